"""Answers as people and programs write them, and what is wrong in them by NumPy's own judgement."""

import json

import numpy as np

from numpy_attention import ORDER, PER_HEAD, Attention, softmax, turned

SYMBOLS = {"Q_rot": "Q̃", "K_rot": "K̃", "scores": "S", "scaled": "Z", "capped": "Z̃", "masked": "M", "weights": "A",
           "head_output": "head", "concat": "Concat", "output": "Y"}


class Unclear(Exception):
    """Nearly right or nearly wrong: nothing that a test may insist on."""


def half_of(decimals):
    return 0.5 * 10.0 ** -decimals


class Form:
    """How the numbers of an answer are computed and written. `half(numbers, key)` is how far each may be from the one that
    was meant; a key is a step and a head from 0."""

    def __init__(self, name, text, half, keep=None, dtype=np.float64, **facts):
        self.name, self.text, self.half, self.keep, self.dtype, self.facts = name, text, half, keep, dtype, facts

    def steps(self, problem, mistake=None, rng=None, **extra):
        attention = Attention(problem, mistake, self.keep, self.dtype, rng, **extra)
        return attention.compute()

    def write(self, steps):
        """Every matrix as b×rows×columns of texts."""
        answer = {}
        for step, numbers in steps.items():
            for head in range(numbers.shape[1]):
                texts = np.empty(numbers[:, head].shape, object)
                for index, x in np.ndenumerate(numbers[:, head]):
                    texts[index] = special(float(x)) or self.text(x, (step, head))
                answer[step, head] = texts
        return answer


def special(x):
    return None if np.isfinite(x) else "NaN" if np.isnan(x) else '"-inf"' if x < 0 else '"inf"'


def finite(x):
    return np.where(np.isfinite(x), abs(x), 0)


def exact(rng):
    whole = rng.random() < 0.5
    text = lambda x, key: str(int(x)) if whole and x == int(x) else repr(float(x))
    return Form("exact", text, lambda x, key: 1e-11 * (1 + finite(x)))


def float32(rng, shortest=False):
    text = (lambda x, key: str(np.float32(x))) if shortest else (lambda x, key: repr(float(x)))
    half = lambda x, key: 3e-6 * (1 + finite(x).max())
    return Form("float32", text, half, dtype=np.float32)


def float16(rng, shortest=False):
    keep = lambda step, x: x.astype(np.float16).astype(np.float32)
    text = (lambda x, key: str(np.float16(x))) if shortest else (lambda x, key: repr(float(x)))
    return Form("float16", text, lambda x, key: 6e-4 * finite(x) + 1e-6, keep, np.float32)


def bfloat16(rng):
    """NumPy has none: the upper half of a float32."""
    def keep(step, x):
        bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
        nearest = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
        return np.where(np.isfinite(x), nearest, x).astype(np.float32)

    half = lambda x, key: 0.015 * (finite(x) + finite(x).max())  # sums of a few terms, which may cancel
    return Form("bfloat16", lambda x, key: repr(float(x)), half, keep, np.float32)


def fixed(rng, decimals):
    """With the zeros at the end or, as Python's round() leaves them, without."""
    if decimals == 0 or rng.random() < 0.5:
        return lambda x, key: f"{x:.{decimals}f}"
    return lambda x, key: repr(float(round(float(x), decimals)))


def rounding(decimals):
    return lambda step, x: np.where(np.isfinite(x) & (abs(x) < 1e8), np.round(x, decimals), x)


def each_step(rng, decimals):
    return Form("rounded at each step", fixed(rng, decimals), lambda x, key: half_of(decimals) + 0 * finite(x),
                rounding(decimals), decimals=decimals)


def when_written(rng, decimals):
    return Form("rounded when written", fixed(rng, decimals), lambda x, key: half_of(decimals) + 0 * finite(x),
                decimals=decimals)


def own_decimals(rng, chained=False):
    """Each matrix with decimals of its own; `chained`: the next step reads the rounded numbers."""
    by_key = {}

    def decimals(step, head):
        key = step if chained else (step, head)
        if key not in by_key:
            by_key[key] = int(rng.integers(1, 6))
        return by_key[key]

    return Form("own decimals", lambda x, key: f"{x:.{decimals(*key)}f}",
                lambda x, key: half_of(decimals(*key)) + 0 * finite(x),
                (lambda step, x: rounding(decimals(step, 0))(step, x)) if chained else None)


def e_notation(rng, digits):
    """As numpy.savetxt or numpy.set_printoptions write it: so many significant digits."""
    return Form("e-notation", lambda x, key: f"{x:.{digits - 1}e}", lambda x, key: finite(x) * half_of(digits - 1))


class Printed(Form):
    """Each matrix as NumPy prints it: in e-notation where its numbers are far apart, else with the decimals it needs."""

    def __init__(self, precision):
        super().__init__("printed by NumPy", None, lambda x, key: finite(x) * half_of(precision - 1) + half_of(precision))
        self.precision = precision

    def write(self, steps):
        answer = {}
        for step, numbers in steps.items():
            for head in range(numbers.shape[1]):
                own = numbers[:, head]
                printed = np.array2string(own, precision=self.precision, threshold=10 ** 9, max_line_width=10 ** 9)
                words = printed.replace("[", " ").replace("]", " ").split()
                words = [{"-inf": '"-inf"', "inf": '"inf"', "nan": "NaN"}.get(w, w + "0" if w.endswith(".") else w)
                         for w in words]
                answer[step, head] = np.array(words, object).reshape(own.shape)
        return answer


# Answers as JSON


def rows(texts, batch):
    matrices = ["[" + ", ".join("[" + ", ".join(row) + "]" for row in matrix) + "]" for matrix in texts]
    return "[" + ", ".join(matrices) + "]" if batch else matrices[0]


def as_json(answer, problem, layout, more=None):
    """`more` are members beside, as JSON texts. Layouts: nested as a trace is, flat with ids, flat with symbols, and all
    heads of a step in one list."""
    batch = problem.batch is not None
    packed = {step[7:]: rows(texts, batch) for (step, _), texts in answer.items() if step.startswith("packed.")}
    members = {"packed": "{" + ", ".join(f'"{k}": {v}' for k, v in packed.items()) + "}"} if packed else {}
    heads = {}
    for (step, head), texts in answer.items():
        if step.startswith("packed."):
            continue
        if step not in PER_HEAD:
            members[SYMBOLS[step] if layout == "symbols" else step] = rows(texts, batch)
        elif layout == "nested":
            heads.setdefault(head, {})[step] = rows(texts, batch)
        elif layout == "lists":
            heads.setdefault(step, []).append(texts)
        else:
            members[f"{SYMBOLS.get(step, step) if layout == 'symbols' else step}{head + 1}"] = rows(texts, batch)
    if layout == "nested" and heads:
        group = problem.h // problem.g
        kv = lambda head: f', "kv_head": {head // group + 1}' if group > 1 else ""
        members["heads"] = "[" + ", ".join(
            f'{{"head": {head + 1}{kv(head)}, ' + ", ".join(f'"{k}": {v}' for k, v in own.items()) + "}"
            for head, own in sorted(heads.items())) + "]"
    if layout == "lists":
        for step, own in heads.items():
            stacked = np.stack(own, axis=1) if batch else [texts[0] for texts in own]
            members[step] = ("[" + ", ".join(rows(item, True) for item in stacked) + "]") if batch else rows(stacked, True)
    return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {v}" for k, v in {**members, **(more or {})}.items()) + "}"


def layout_for(rng, answer, problem):
    """Lists need all heads of each step, all of one shape, and a name that means nothing else."""
    layouts = ["nested", "ids", "symbols"]
    whole = all(all((step, head) in answer for head in range(problem.h)) for step, _ in answer if step in PER_HEAD)
    if whole and not problem.packed and problem.h > 1 and all(head < problem.h for _, head in answer):
        layouts.append("lists")
    return str(rng.choice(layouts))


def part_of(rng, answer, problem):
    """Some steps left out, and of others some heads. K1 … beside more heads of other steps would be those of groups."""
    names = [step for step in ORDER if (step, 0) in answer]
    chosen = [step for step in names if rng.random() < 0.5] or [names[-1]]
    result = {}
    for step in chosen:
        heads = [head for s, head in answer if s == step]
        if len(heads) > 1 and rng.random() < 0.3 and not (problem.g != problem.h and step in ("K", "V", "K_rot")):
            heads = [head for head in heads if rng.random() < 0.6] or heads[:1]
        result |= {(step, head): answer[step, head] for head in heads}
    return result


# What is wrong


def parse(text):
    return {'"-inf"': -np.inf, '"inf"': np.inf, "NaN": np.nan, "null": np.nan}[text] if text in (
        '"-inf"', '"inf"', "NaN", "null") else float(text)


def numbers_of(texts):
    return np.vectorize(parse, otypes=[float])(texts)


def tiny_but_other(own, true, form):
    """Weights like 1e-30 for 1e-40 in full precision: as numbers nothing, as powers of e far apart."""
    return form.name in ("exact", "float32") and bool((abs(own - true) > 1e-3 * abs(true)).any())


def product(a, ra, b, rb):
    a, b = finite(a), finite(b)
    return a @ rb + ra @ b + ra @ rb


def first_wrong(problem, answer, form, sure=3.0):
    """The first step that does not follow from the answer's own numbers before it, and its wrong heads; None where all
    do. Raises Unclear where a difference is neither within what is written nor `sure` times beyond it."""
    p = problem
    right = Attention(p).compute()
    number, radius = {}, {}

    def judge(step, expected, known):
        value = np.broadcast_to(expected, right[step].shape).copy()
        known = np.broadcast_to(known, value.shape).copy()
        wrong = []
        halves = np.zeros_like(value)
        for head in range(value.shape[1]):
            halves[:, head] = form.half(value[:, head], (step, head))
        heads = sorted(head for s, head in answer if s == step)
        for head in heads:
            own = numbers_of(answer[step, head])
            if head >= value.shape[1] or own.shape != value[:, head].shape:
                wrong.append(head)
                continue
            with np.errstate(invalid="ignore"):
                apart = abs(own - value[:, head])
            same = (own == value[:, head]) | (np.isnan(own) & np.isnan(value[:, head]))
            apart = np.where(same, 0, np.where(np.isnan(apart), np.inf, apart))
            allowed = known[:, head] + halves[:, head] + 1e-12
            if (apart > sure * allowed).any():
                wrong.append(head)
            elif (apart > allowed).any() or (step == "weights" and tiny_but_other(own, value[:, head], form)):
                raise Unclear
            value[:, head] = own
            known[:, head] = form.half(own, (step, head))
        for head in set(range(value.shape[1])) - set(heads):
            known[:, head] += halves[:, head]
        number[step], radius[step] = value, known
        return wrong

    with np.errstate(all="ignore"):
        for step in (step for step in ORDER if step in right):
            expected, known = follows(p, step, number, radius)
            wrong = judge(step, expected, known)
            if wrong:
                return step, wrong
    return None


def follows(p, step, number, radius):
    """What stands at a step, the numbers before it being what they are, and how far it may be off."""
    projections = Attention(p)
    if step.startswith("packed.") or (step in "QKV" and not p.packed):
        projections.projections()
        return projections.steps[step], 0.0
    if step in ("Q", "K", "V"):
        count = p.h if step == "Q" else p.g
        chosen = np.arange(p.h) // (p.h // count)
        split = lambda wide: projections.split(wide[:, 0], count)[:, chosen]
        return split(number[f"packed.{step}"]), split(radius[f"packed.{step}"])
    if step in ("Q_rot", "K_rot"):
        source, at = step[0], p.rope["start"] + np.arange(p.n if step == "Q_rot" else p.m)
        r = radius[source]  # a pair's columns enter into both
        return projections.rotated(number[source], at), r + r.max(axis=-1, keepdims=True)
    Q, K = ("Q_rot", "K_rot") if p.rope else ("Q", "K")
    if step == "scores":
        return number[Q] @ turned(number[K]), product(number[Q], radius[Q], turned(number[K]), turned(radius[K]))
    before = ORDER[:ORDER.index(step)]
    last = next(s for s in reversed(before) if s in number)
    value, known = number[last], radius[last]
    if step == "scaled":
        factor = p.d_k ** -0.5 if p.scale is None else p.scale
        return value * factor, known * factor
    if step == "capped":
        return p.softcap * np.tanh(value / p.softcap), known
    if step == "masked":
        return value + p.mask, known
    if step == "weights":
        largest = np.where(np.isneginf(value), 0, known).max(axis=-1, keepdims=True)
        A = softmax(value)
        return A, np.minimum(1, A * np.expm1(np.minimum(2 * largest, 50)))
    if step == "head_output":
        return number["weights"] @ number["V"], product(number["weights"], radius["weights"], number["V"], radius["V"])
    if step == "concat":
        merged = lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], 1, x.shape[2], -1)
        return merged(number["head_output"]), merged(radius["head_output"])
    if p.identity:
        return number["concat"], radius["concat"]
    return number["concat"] @ p.W_O + (0 if p.b_O is None else p.b_O), radius["concat"] @ abs(p.W_O)
