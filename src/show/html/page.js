// Answers of a page: which entries a number comes from, where it goes, and how it is computed.
'use strict';
(() => {
  // A notebook holds several pages, each with its script.
  const root = [...document.querySelectorAll('.mha')].find((page) => !page.isTaken);
  root.isTaken = true;
  const all = (selector) => [...root.querySelectorAll(selector)];
  const byId = (id) => root.querySelector('#' + CSS.escape(id)), panel = byId('panel');
  const data = Object.fromEntries(all('script[lang]').map((part) => [part.lang, JSON.parse(part.textContent)]));
  const tables = all('table.m[data-m]');
  const cells = new Map();   // "A1[2,3]": the cells that show it
  const entries = new Map(); // cell: its entry
  let { words, matrices } = data[root.lang];
  const isShown = (element) => element.closest('[lang]').lang === root.lang;  // of a page in both languages
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
  const addressOf = (entry) => location.href.split('#')[0] + '#' + encodeURIComponent(entry);
  const alone = () => document.querySelectorAll('.mha').length === 1;
  const links = (title, list) => {
    if (!list.length) return;
    const line = add(panel, 'p', `${title} `, 'links');
    for (const entry of list) {
      const link = add(line, 'a', label(entry));
      link.href = addressOf(entry);
      link.addEventListener('click', (event) => {
        // What was chosen is where Back returns to.
        try { history.replaceState(null, '', addressOf(chosen)); } catch { /* a frame that may not */ }
        if (alone() && location.href !== link.href) return;
        event.preventDefault();
        goTo(entry);
      });
      line.append(' ');
    }
  };

  let chosen = null, kept = false;  // kept: by a click or a key, until Escape; the pointer alone passes over
  const forget = () => {
    for (const cell of all('.hit, .src')) cell.classList.remove('hit', 'src');
    panel.hidden = true;
    chosen = null;
    kept = false;
  };
  const keep = (entry) => { choose(entry); kept = chosen !== null; };
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
    const area = add(root, 'textarea', text);
    area.select();
    document.execCommand('copy');
    area.remove();
  };

  const goTo = (entry) => {
    const found = parts(entry), shown = (cells.get(entry) || []).filter(isShown);
    if (!found || !shown.length) return;
    const cell = shown.find((one) => one.closest('table').id) || shown[0];
    reveal(cell);
    cell.scrollIntoView({ block: 'center', inline: 'nearest' });
    cell.focus({ preventScroll: true });
    keep(entry);
  };
  // Shows the step in which it is, or that comes first in it.
  const reveal = (element) => {
    if (!inLecture()) return;
    const at = steps.findIndex((step) => step.contains(element) || element.contains(step) ||
      element.compareDocumentPosition(step) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (at >= 0) show(at);
  };
  const fromAddress = () => {
    let entry = location.hash.slice(1);
    try { entry = decodeURIComponent(entry); } catch { /* as it is */ }
    if (parts(entry)) goTo(entry);
    else if (!entry) forget();
    else if (byId(entry)) reveal(byId(entry));
  };
  addEventListener('hashchange', fromAddress);

  root.addEventListener('focusin', ({ target }) => entries.has(target) && keep(entries.get(target)));
  root.addEventListener('pointerover', ({ target }) => {
    if (entries.has(target) && !kept && !panel.contains(document.activeElement)) choose(entries.get(target));
  });
  root.addEventListener('click', ({ target }) => {
    if (!entries.has(target)) return;
    target.focus();
    keep(entries.get(target));
  });
  for (const link of all('nav a'))
    link.addEventListener('click', (event) => {
      const target = byId(link.hash.slice(1));
      if (!inLecture() && alone()) return;
      event.preventDefault();
      reveal(target);
      if (!inLecture()) target.scrollIntoView();
    });

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
      else if (inLecture()) lecture(false);
    } else if (event.key.startsWith('Arrow') && entries.has(cell)) {
      const next = walk(cell, event.key);
      event.preventDefault();
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else if (inLecture() && (event.key === 'PageDown' || event.key === 'PageUp')) {
      event.preventDefault();
      show(now + (event.key === 'PageDown' ? 1 : -1));
    }
  });

  // One step at a time.
  const allSteps = all('.step'), jump = byId('jump');
  const inLecture = () => root.classList.contains('lecture');
  let steps = allSteps.filter(isShown), now = 0;
  const show = (i) => {
    now = Math.min(Math.max(i, 0), steps.length - 1);
    allSteps.forEach((step) => step.classList.toggle('now', step === steps[now]));
    if (jump) jump.value = now;
    (document.fullscreenElement || window).scrollTo(0, 0);
  };
  const pressed = (button, on) => button.setAttribute('aria-pressed', on);
  const lecture = (on) => {
    root.classList.toggle('lecture', on);
    pressed(byId('one'), on);
    byId('back').hidden = byId('on').hidden = !on;
    if (on) {
      show(now);
      if (root.requestFullscreen) root.requestFullscreen().catch(() => {});
    } else if (document.fullscreenElement) document.exitFullscreen();
  };
  const listSteps = () => {
    let group = null, of = null;
    jump.textContent = '';
    steps.forEach((step, at) => {
      const section = step.closest('section');
      if (section !== of) {
        group = section ? add(jump, 'optgroup') : null;
        if (group) group.label = section.querySelector('h2, h3').textContent;
        of = section;
      }
      add(group || jump, 'option', step.querySelector('h2, h3, h4').textContent).value = at;
    });
    jump.value = now;
  };
  if (byId('one')) {
    byId('back').hidden = byId('on').hidden = true;
    byId('one').addEventListener('click', () => lecture(!inLecture()));
    byId('back').addEventListener('click', () => show(now - 1));
    byId('on').addEventListener('click', () => show(now + 1));
    listSteps();
    jump.addEventListener('change', () => {
      if (inLecture()) show(+jump.value);
      else steps[jump.value].scrollIntoView();
    });
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
    align();
  });
  // Columns stand at the decimal point: what has fewer digits behind it gets as much room.
  const align = () => {
    for (const table of all('table.m')) {
      const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains('gap')).map((row) => [...row.querySelectorAll('td')]);
      for (let j = 0; rows.length && j < rows[0].length; ++j) {
        const behind = rows.map((row) => row[j].textContent.replace(/^[^.e]*/, '').length), most = Math.max(...behind);
        rows.forEach((row, i) => { row[j].style.paddingRight = behind[i] < most ? `calc(.51em + ${most - behind[i]}ch)` : ''; });
      }
    }
  };
  align();
  const toggle = (id, change, start) => {
    const button = byId(id);
    if (!button) return;
    let on = start;
    pressed(button, on);
    button.addEventListener('click', () => { on = !on; pressed(button, on); change(on); });
  };
  toggle('heat', (on) => root.classList.toggle('plain', !on), true);
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const theme = (on) => { root.dataset.theme = on ? 'dark' : 'light'; };
  theme(dark);
  toggle('dark', theme, dark);

  // From queries on the left to keys on the right, as thick as the weight.
  const lines = (map) => {
    const table = map.querySelector('table'), { r, c, x } = matrices[table.dataset.m];
    const names = (scope, numbers) => {
      const labels = [...table.querySelectorAll(`th[scope=${scope}]`)].map((th) => th.textContent);
      return labels.length === numbers.length ? labels : numbers.map(String);
    };
    const queries = names('row', r), keys = names('col', c), height = 22 * Math.max(r.length, c.length) + 8;
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', `0 0 300 ${height}`);
    svg.setAttribute('width', 300);
    svg.setAttribute('role', 'group');
    svg.setAttribute('aria-label', table.getAttribute('aria-label'));
    const draw = (tag, attributes, text) => {
      const element = document.createElementNS(svg.namespaceURI, tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      if (text) element.textContent = text;
      return svg.appendChild(element);
    };
    const y = (i) => 18 + 22 * i, drawn = [];
    r.forEach((_, i) => c.forEach((__, j) => {
      const weight = +x[i * c.length + j];
      if (weight > 0) drawn.push([i, draw('line', { x1: 92, y1: y(i) - 4, x2: 208, y2: y(j) - 4, stroke: 'currentColor', 'stroke-width': 1 + 4 * weight, 'stroke-opacity': weight })]);
    }));
    let only = null;
    const texts = queries.map((name, i) => {
      const text = draw('text', { x: 86, y: y(i), 'text-anchor': 'end', tabindex: 0, role: 'button', 'aria-pressed': false }, name);
      text.addEventListener('click', () => {
        only = only === i ? null : i;
        for (const [from, line] of drawn) line.setAttribute('visibility', only === null || from === only ? 'visible' : 'hidden');
        texts.forEach((one, at) => { one.classList.toggle('on', at === only); pressed(one, at === only); });
      });
      text.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        text.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      });
      return text;
    });
    keys.forEach((name, j) => draw('text', { x: 214, y: y(j) }, name));
    return svg;
  };
  const maps = all('.map'), known = maps.filter((map) => matrices[map.querySelector('table').dataset.m]);
  toggle('lines', (on) => {
    for (const map of known) {
      if (on && !map.querySelector('svg')) map.append(lines(map));
      map.querySelector('figure').hidden = on;
      map.querySelector('svg').style.display = on ? '' : 'none';
    }
  }, false);
  if (byId('lines')) byId('lines').hidden = !known.length;
  const head = byId('head');
  const showHeads = () => {
    const shown = maps.filter(isShown), { value } = head;
    head.length = 1;
    shown.forEach((map, at) => {
      add(head, 'option', map.querySelector('span').textContent).value = at;
      map.classList.toggle('on', String(at) === value);
    });
    head.value = value;
    head.closest('label').hidden = shown.length < 2;
    root.classList.toggle('chosen', value !== '');
  };
  if (head) showHeads(), head.addEventListener('change', showHeads);

  // The other language, at the same step, head and entry.
  if (byId('language')) {
    root.classList.add('both');
    byId('language').addEventListener('change', ({ target: { value } }) => {
      const entry = chosen, stays = kept, at = steps.findIndex((step) => step.getBoundingClientRect().bottom > 0);
      forget();
      root.lang = value;
      ({ words, matrices } = data[value]);
      steps = allSteps.filter(isShown);
      if (jump) listSteps();
      if (head) showHeads();
      if (inLecture()) show(now);
      else if (scrollY > 0 && at >= 0) steps[at].scrollIntoView();
      if (entry) choose(entry);
      kept = stays;
    });
  }

  // On paper nothing scrolls: a matrix is as small as the sheet needs (its width in em), a step longer than a sheet may break.
  addEventListener('beforeprint', () => {
    for (const table of all('table.m'))
      table.style.setProperty('--w', table.offsetWidth / parseFloat(getComputedStyle(table).fontSize) || 1);
    for (const step of steps) step.classList.toggle('long', step.offsetHeight > 800);
  });

  for (const hidden of all('.bar, .help')) hidden.hidden = false;
  fromAddress();
})();
