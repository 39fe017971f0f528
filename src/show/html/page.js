// Answers of a page: which entries a number comes from, where it goes, and how it is computed.
'use strict';
(() => {
  const { words, matrices } = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement, body = document.body, panel = document.getElementById('panel');
  const byId = (id) => document.getElementById(id);
  const tables = [...document.querySelectorAll('table.m[data-m]')];
  const cells = new Map();   // "A1[2,3]": the cells that show it
  const entries = new Map(); // cell: its entry
  const key = (name, row, column) => `${name}[${row},${column}]`;

  for (const table of tables) {
    const { r, c } = matrices[table.dataset.m], turned = 't' in table.dataset;
    const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains('gap'));
    rows.forEach((row, i) => [...row.querySelectorAll('td')].forEach((cell, j) => {
      const entry = turned ? key(table.dataset.m, r[j], c[i]) : key(table.dataset.m, r[i], c[j]);
      entries.set(cell, entry);
      if (!cells.has(entry)) cells.set(entry, []);
      cells.get(entry).push(cell);
      cell.tabIndex = i + j === 0 ? 0 : -1;
    }));
  }

  const parts = (entry) => {
    const [, name, row, column] = /^(.*)\[(\d+),(\d+)\]$/.exec(entry) || [];
    const matrix = matrices[name];
    if (!matrix) return null;
    const i = matrix.r.indexOf(+row), j = matrix.c.indexOf(+column);
    return i < 0 || j < 0 ? null : { name, matrix, row, column, at: i * matrix.c.length + j };
  };
  const sources = ({ matrix, at }) => !matrix.f || !matrix.f[at] ? [] : matrix.f[at].split('|').flatMap((list) => {
    const colon = list.lastIndexOf(':');
    return list.slice(colon + 1).split(' ').map((place) => `${list.slice(0, colon)}[${place}]`);
  });
  let readers = null;  // entry: those computed from it
  const into = (entry) => {
    if (!readers) {
      readers = new Map();
      for (const [name, matrix] of Object.entries(matrices))
        (matrix.f || []).forEach((_, at) => {
          const reader = key(name, matrix.r[Math.floor(at / matrix.c.length)], matrix.c[at % matrix.c.length]);
          for (const source of sources({ matrix, at })) {
            if (!readers.has(source)) readers.set(source, []);
            readers.get(source).push(reader);
          }
        });
    }
    return readers.get(entry) || [];
  };

  const add = (parent, tag, text, kind) => {
    const element = parent.appendChild(document.createElement(tag));
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const label = (entry) => {
    const { matrix, row, column } = parts(entry);
    return `${matrix.s}[${row},${column}]`;
  };
  const links = (title, list) => {
    if (!list.length) return;
    const line = add(panel, 'p', `${title} `, 'links');
    for (const entry of list) {
      const link = add(line, 'a', label(entry));
      link.href = location.href.split('#')[0] + '#' + encodeURIComponent(entry);
      line.append(' ');
    }
  };

  let chosen = null;
  const forget = () => {
    for (const cell of document.querySelectorAll('.hit, .src')) cell.classList.remove('hit', 'src');
    panel.hidden = true;
    chosen = null;
  };
  const choose = (entry) => {
    if (entry === chosen) return;
    const found = parts(entry);
    forget();
    if (!found) return;
    chosen = entry;
    const from = sources(found).filter((source) => cells.has(source)), exact = found.matrix.x[found.at];
    for (const cell of cells.get(entry) || []) cell.classList.add('hit');
    for (const source of from) for (const cell of cells.get(source)) cell.classList.add('src');
    panel.textContent = '';
    add(panel, 'h2', label(entry));
    const close = add(panel, 'button', '×', 'close');
    close.setAttribute('aria-label', words.close);
    close.addEventListener('click', forget);
    const work = found.matrix.w && found.matrix.w[found.at];
    add(panel, 'p', work || words.given, work ? 'sum' : 'links');
    add(panel, 'p', `${words.exact} ${exact}`, 'links').dataset.exact = exact;
    links(words.from, from);
    links(words.into, into(entry).filter((reader) => cells.has(reader)));
    copying(found);
    panel.hidden = false;
  };

  // The matrix as NumPy, LaTeX or JSON take it.
  const copying = ({ matrix }) => {
    const line = add(panel, 'p', `${words.copy} ${matrix.s}: `, 'links');
    if (!matrix.all) return void line.append(words.part);
    const rows = matrix.r.map((_, i) => matrix.x.slice(i * matrix.c.length, (i + 1) * matrix.c.length));
    const python = (x) => (/inf|nan/.test(x) ? x.replace(/inf|nan/, 'np.$&') : x);
    const forms = {
      NumPy: () => `np.array([${rows.map((row) => `[${row.map(python).join(', ')}]`).join(',\n          ')}])`,
      LaTeX: () => `\\begin{pmatrix}\n${rows.map((row) => row.map((x) => x.replace('inf', '\\infty')).join(' & ')).join(' \\\\\n')}\n\\end{pmatrix}`,
      JSON: () => `[${rows.map((row) => `[${row.map((x) => (/inf|nan/.test(x) ? `"${x}"` : x)).join(', ')}]`).join(',\n ')}]`,
    };
    for (const [name, form] of Object.entries(forms)) {
      const button = add(line, 'button', name);
      button.addEventListener('click', async () => {
        const text = form();
        try { await navigator.clipboard.writeText(text); } catch { select(text); }
        button.textContent = words.copied;
      });
      line.append(' ');
    }
  };
  // Where a page may not write to the clipboard itself.
  const select = (text) => {
    const area = add(body, 'textarea', text);
    area.select();
    document.execCommand('copy');
    area.remove();
  };

  const goTo = (entry) => {
    const found = parts(entry), all = cells.get(entry);
    if (!found || !all) return;
    const home = byId(found.name);
    const cell = all.find((one) => one.closest('table') === home) || all[0];
    const step = cell.closest('.step');
    if (body.classList.contains('lecture') && step) show(steps.indexOf(step));
    cell.scrollIntoView({ block: 'center', inline: 'nearest' });
    cell.focus({ preventScroll: true });
    choose(entry);
  };
  const fromAddress = () => {
    let entry = location.hash.slice(1);
    try { entry = decodeURIComponent(entry); } catch { /* as it is */ }
    if (parts(entry)) goTo(entry);
    else if (!entry) forget();
  };
  addEventListener('hashchange', fromAddress);

  body.addEventListener('focusin', ({ target }) => entries.has(target) && choose(entries.get(target)));
  body.addEventListener('pointerover', ({ target }) => {
    if (entries.has(target) && !panel.contains(document.activeElement)) choose(entries.get(target));
  });
  body.addEventListener('click', ({ target }) => entries.has(target) && target.focus());

  const walk = (cell, key) => {
    const row = cell.parentElement, own = [...row.querySelectorAll('td')], at = own.indexOf(cell);
    if (key === 'ArrowLeft' || key === 'ArrowRight') return own[at + (key === 'ArrowLeft' ? -1 : 1)];
    let next = row;
    do next = key === 'ArrowUp' ? next.previousElementSibling : next.nextElementSibling;
    while (next && next.classList.contains('gap'));
    return next && next.querySelectorAll('td')[at];
  };
  addEventListener('keydown', (event) => {
    const cell = document.activeElement;
    if (event.key === 'Escape') {
      if (chosen) forget();
      else if (body.classList.contains('lecture')) lecture(false);
    } else if (event.key.startsWith('Arrow') && entries.has(cell)) {
      const next = walk(cell, event.key);
      event.preventDefault();
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else if (body.classList.contains('lecture') && (event.key === 'PageDown' || event.key === 'PageUp')) {
      event.preventDefault();
      show(now + (event.key === 'PageDown' ? 1 : -1));
    }
  });

  // One step at a time.
  const steps = [...document.querySelectorAll('.step')];
  let now = 0;
  const show = (i) => {
    now = Math.min(Math.max(i, 0), steps.length - 1);
    steps.forEach((step, at) => step.classList.toggle('now', at === now));
    scrollTo(0, 0);
  };
  const pressed = (button, on) => button.setAttribute('aria-pressed', on);
  const lecture = (on) => {
    body.classList.toggle('lecture', on);
    pressed(byId('one'), on);
    byId('back').hidden = byId('on').hidden = !on;
    if (on) {
      show(now);
      if (root.requestFullscreen) root.requestFullscreen().catch(() => {});
    } else if (document.fullscreenElement) document.exitFullscreen();
  };
  if (byId('one')) {
    byId('back').hidden = byId('on').hidden = true;
    byId('one').addEventListener('click', () => lecture(!body.classList.contains('lecture')));
    byId('back').addEventListener('click', () => show(now - 1));
    byId('on').addEventListener('click', () => show(now + 1));
  }

  // Decimals, shades, colours.
  const written = new Map([...entries.keys()].map((cell) => [cell, cell.textContent]));
  const digits = (exact, decimals) => {
    if (decimals === 'exact' || !Number.isFinite(+exact)) return exact;
    const text = (+exact).toFixed(+decimals);
    return +text === 0 ? text.replace('-', '') : text;
  };
  if (byId('decimals')) byId('decimals').addEventListener('change', ({ target: { value } }) => {
    for (const [cell, entry] of entries) {
      const { matrix, at } = parts(entry);
      cell.textContent = value === '' || /inf|nan/.test(matrix.x[at]) ? written.get(cell) : digits(matrix.x[at], value);
    }
  });
  const toggle = (id, change, start) => {
    const button = byId(id);
    if (!button) return;
    let on = start;
    pressed(button, on);
    button.addEventListener('click', () => { on = !on; pressed(button, on); change(on); });
  };
  toggle('heat', (on) => body.classList.toggle('plain', !on), true);
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const theme = (on) => { root.dataset.theme = on ? 'dark' : 'light'; };
  theme(dark);
  toggle('dark', theme, dark);

  // From queries on the left to keys on the right, as thick as the weight.
  const lines = (map) => {
    const table = map.querySelector('table'), { r, c, x } = matrices[table.dataset.m];
    const names = (scope, numbers) => {
      const all = [...table.querySelectorAll(`th[scope=${scope}]`)].map((th) => th.textContent);
      return all.length === numbers.length ? all : numbers.map(String);
    };
    const queries = names('row', r), keys = names('col', c), height = 22 * Math.max(r.length, c.length) + 8;
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', `0 0 300 ${height}`);
    svg.setAttribute('width', 300);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', table.getAttribute('aria-label'));
    const draw = (tag, attributes, text) => {
      const element = document.createElementNS(svg.namespaceURI, tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      if (text) element.textContent = text;
      return svg.appendChild(element);
    };
    const y = (i) => 18 + 22 * i, all = [];
    r.forEach((_, i) => c.forEach((__, j) => {
      const weight = +x[i * c.length + j];
      if (weight > 0) all.push([i, draw('line', { x1: 92, y1: y(i) - 4, x2: 208, y2: y(j) - 4, stroke: 'currentColor', 'stroke-width': 1 + 4 * weight, 'stroke-opacity': weight })]);
    }));
    let only = null;
    const texts = queries.map((name, i) => {
      const text = draw('text', { x: 86, y: y(i), 'text-anchor': 'end' }, name);
      text.addEventListener('click', () => {
        only = only === i ? null : i;
        for (const [from, line] of all) line.setAttribute('visibility', only === null || from === only ? 'visible' : 'hidden');
        texts.forEach((one, at) => one.classList.toggle('on', at === only));
      });
      return text;
    });
    keys.forEach((name, j) => draw('text', { x: 214, y: y(j) }, name));
    return svg;
  };
  toggle('lines', (on) => {
    for (const map of document.querySelectorAll('.map')) {
      if (on && !map.querySelector('svg') && matrices[map.querySelector('table').dataset.m]) map.append(lines(map));
      map.querySelector('figure').hidden = on;
      const drawn = map.querySelector('svg');
      if (drawn) drawn.style.display = on ? '' : 'none';
    }
  }, false);

  for (const hidden of document.querySelectorAll('.bar, .help')) hidden.hidden = false;
  fromAddress();
})();
