"""Random answers of every kind, right and wrong, each with what `mha check` must say of it."""

import zlib
from dataclasses import dataclass, field

import numpy as np

from numpy_attention import PER_HEAD, Attention, DoesNotFit, need, not_split
from random_problems import slopes
from written_answers import (Unclear, as_json, bfloat16, e_notation, each_step, exact, finite, first_wrong, float16,
                             float32, layout_for, own_decimals, part_of, Printed, when_written)

FLOAT32_MINIMUM = float(np.finfo(np.float32).min)


@dataclass
class Case:
    kind: str
    problem: int  # which
    answer: str   # JSON
    verdict: str
    first: tuple = None  # step, head from 1 or None
    ids: tuple = ()      # all of these must be among the mistakes
    true_steps: list = field(default_factory=list)  # (step, head from 1 or None): never called wrong, whatever is before
    true_is: tuple = ("right", "following")  # what they may be called
    options: tuple = ()


class Draw:
    """One try to make a case of a kind on a problem."""

    def __init__(self, kind, rng, problem, index):
        self.kind, self.rng, self.p, self.index = kind, rng, problem, index

    def right(self, form, answer=None, part=False, layout=None, options=(), verdict="right", more=None, **extra):
        answer = answer or form.write(form.steps(self.p, rng=self.rng, **extra))
        if part:
            answer = part_of(self.rng, answer, self.p)
        text = as_json(answer, self.p, layout or layout_for(self.rng, answer, self.p), more)
        return Case(self.kind, self.index, text, verdict, options=options)

    def wrong(self, form, answer, ids=()):
        found = first_wrong(self.p, answer, form)
        if found is None:
            raise Unclear
        step, heads = found
        return Case(self.kind, self.index, as_json(answer, self.p, layout_for(self.rng, answer, self.p)), "wrong",
                    (step, heads[0] + 1 if step in PER_HEAD else None), tuple(ids),
                    self.true_steps(form, answer))

    def true_steps(self, form, answer):
        """Those written as somebody who made no mistake writes them."""
        truth = form.write(form.steps(self.p))
        return [(step, head + 1 if step in PER_HEAD else None) for (step, head), texts in answer.items()
                if (step, head) in truth and np.array_equal(texts, truth[step, head])]


# Right answers

RIGHT_FORMS = {
    "exact": lambda rng: exact(rng),
    "float32": lambda rng: float32(rng),
    "float32, shortest": lambda rng: float32(rng, shortest=True),
    "float16": lambda rng: float16(rng),
    "float16, shortest": lambda rng: float16(rng, shortest=True),
    "bfloat16": lambda rng: bfloat16(rng),
    "1 decimal at each step": lambda rng: each_step(rng, 1),
    "2 decimals at each step": lambda rng: each_step(rng, 2),
    "3 decimals at each step": lambda rng: each_step(rng, 3),
    "4 decimals at each step": lambda rng: each_step(rng, 4),
    "8 decimals at each step": lambda rng: each_step(rng, 8),
    "12 decimals at each step": lambda rng: each_step(rng, 12),
    "1 decimal as written": lambda rng: when_written(rng, 1),
    "2 decimals as written": lambda rng: when_written(rng, 2),
    "3 decimals as written": lambda rng: when_written(rng, 3),
    "4 decimals as written": lambda rng: when_written(rng, 4),
    "own decimals": lambda rng: own_decimals(rng),
    "own decimals at each step": lambda rng: own_decimals(rng, chained=True),
    "e-notation": lambda rng: e_notation(rng, int(rng.integers(4, 7))),
    "printed by NumPy": lambda rng: Printed(int(rng.choice([4, 8]))),
}


def right_form(name, part, large_scores=False):
    def make(draw):
        need("float" not in name or draw.p.large_scores == large_scores)
        form = RIGHT_FORMS[name](draw.rng)
        steps = form.steps(draw.p)
        need(np.isfinite(steps["scores"]).all())  # float16 ends early
        answer = form.write(steps)
        if part:
            answer = part_of(draw.rng, answer, draw.p)
            need(name != "own decimals at each step" or shows_coarsest(draw.p, form.write(steps), answer))
        return draw.right(form, answer)
    return make


def decimals_of(texts):
    return max(len(text.partition(".")[2]) for text in texts.flat)


def shows_coarsest(p, whole, part):
    """What was left out was not rounded more coarsely than all that is there: nobody could tell."""
    truth = Attention(p).compute()

    def rounds(key):
        own = finite(truth[key[0]][:, key[1]])
        return not np.allclose(own, np.round(own, decimals_of(whole[key])), rtol=0, atol=1e-9)

    coarsest = min((decimals_of(texts) for key, texts in part.items() if rounds(key)), default=99)
    return all(decimals_of(whole[key]) >= coarsest for key in whole if key not in part and rounds(key))


def any_form(rng):
    return RIGHT_FORMS[str(rng.choice(["exact", "3 decimals at each step", "4 decimals as written"]))](rng)


def rounded_factor(as_root, part, chained=True):
    def make(draw):
        p, decimals = draw.p, int(draw.rng.integers(2, 5))
        need(p.scale is None and p.d_k in (2, 3))
        form = (each_step if chained else when_written)(draw.rng, decimals)
        extra = {"divisor": round(p.d_k ** 0.5, decimals)} if as_root else {"factor": round(p.d_k ** -0.5, decimals)}
        return draw.right(form, part=part, **extra)
    return make


def fill(number, how, keyless=False):
    def make(draw):
        p = draw.p
        need(p.hides and p.keyless.any() == keyless)
        form = any_form(draw.rng)
        answer = form.write(form.steps(p, fill=(number, how)))
        if not keyless:
            truth, own = Attention(p).compute(), Attention(p, fill=(number, how)).compute()
            need(np.allclose(truth["weights"], own["weights"], rtol=0, atol=1e-13))
        if draw.rng.random() < 0.3:
            answer = {key: texts for key, texts in answer.items() if key[0] in ("masked", "weights", "head_output")}
        return draw.right(form, answer)
    return make


def float32_beside_whole_numbers(draw):
    """Floats in their shortest form, and the fill with all its digits."""
    p = draw.p
    need(p.hides and not p.keyless.any() and not p.large_scores)
    form = float32(draw.rng, shortest=True)
    form.text = lambda x, key: str(int(x)) if abs(x) > 1e8 else str(np.float32(x))
    return draw.right(form, fill=(float(draw.rng.choice([-1e9, FLOAT32_MINIMUM])), "put"))


def keyless(fill_with, part):
    def make(draw):
        need(draw.p.keyless.any())
        form = any_form(draw.rng)
        answer = form.write(form.steps(draw.p, keyless=fill_with))
        if part == "weights alone":
            answer = {key: texts for key, texts in answer.items() if key[0] == "weights"}
        return draw.right(form, answer, part=part == "part")
    return make


def weights_of_filled_rows_alone(draw):
    """What −1e9 + z gives in a row without a key, and no masked scores beside it."""
    need(draw.p.keyless.any() and draw.p.hides)
    form = any_form(draw.rng)
    answer = form.write(form.steps(draw.p, fill=(-1e9, "added")))
    return draw.right(form, {key: texts for key, texts in answer.items() if key[0] == "weights"})


def row_maximum(draw):
    return draw.right(any_form(draw.rng), row_maximum=bool(need(draw.p.masks)) or True)


def alibi_as_slope_times_key(draw):
    p = draw.p
    need([kind for kind, _ in p.masks] == ["alibi", "causal"])
    return draw.right(any_form(draw.rng), shift=np.array(slopes(p.h))[:, None, None] * np.arange(p.n)[:, None])


def scale_on_projections(both):
    def make(draw):
        p = draw.p
        need(p.scale != "none" and p.rope is None)
        factor = p.d_k ** -0.5 if p.scale is None else p.scale
        on = {"Q": factor ** 0.5, "K": factor ** 0.5} if both else {"Q": factor}
        return draw.right(any_form(draw.rng), on_projections=on, leave_out_scale=True)
    return make


def mask_renormalised(draw):
    need(draw.p.hides and not draw.p.keyless.any())
    return draw.right(any_form(draw.rng), unmasked_shown=True)


def one_whole_matrix(draw):
    form = when_written(draw.rng, 0)
    answer = form.write(form.steps(draw.p))
    step = str(draw.rng.choice(["output", "scores"]))
    return draw.right(form, {key: texts for key, texts in answer.items() if key[0] == step})


def shared_heads_once(draw):
    p = draw.p
    need(1 <= p.g < p.h)
    form = any_form(draw.rng)
    answer = form.write(form.steps(p))
    once = {key: texts for key, texts in answer.items() if key[0] not in ("K", "V", "K_rot") or key[1] % (p.h // p.g) == 0}
    return draw.right(form, once, layout="nested")


def required(names, given, verdict):
    """`given`: "all", or a step that is left out."""
    def make(draw):
        form = any_form(draw.rng)
        answer = form.write(form.steps(draw.p))
        if given != "all":
            need(any(step == given for step, _ in answer))
            answer = {key: texts for key, texts in answer.items() if key[0] != given}
        return draw.right(form, answer, options=("--require", names), verdict=verdict)
    return make


RIGHT = {}  # kind: (how many, maker)
for name in RIGHT_FORMS:
    RIGHT[f"right: {name}"] = (16, right_form(name, False))
    RIGHT[f"right: {name}, partial"] = (12, right_form(name, True))
for name in ("float32", "float32, shortest"):
    RIGHT[f"right: {name}, large scores"] = (24, right_form(name, False, large_scores=True))
    RIGHT[f"right: {name}, large scores, partial"] = (16, right_form(name, True, large_scores=True))
RIGHT |= {
    "right: float32 beside whole numbers": (8, float32_beside_whole_numbers),
    "right: rounded factor": (16, rounded_factor(False, False)),
    "right: rounded factor, partial": (10, rounded_factor(False, True)),
    "right: rounded factor, else exact": (8, rounded_factor(False, False, chained=False)),
    "right: rounded root": (12, rounded_factor(True, False)),
    "right: row maximum taken off": (12, row_maximum),
    "right: alibi as slope times key": (4, alibi_as_slope_times_key),
    "right: scale on Q": (8, scale_on_projections(False)),
    "right: root of the scale on Q and K": (8, scale_on_projections(True)),
    "right: mask after softmax, renormalised": (8, mask_renormalised),
    "right: one matrix in whole numbers": (10, one_whole_matrix),
    "right: K and V of shared heads once": (6, shared_heads_once),
    "right: required and there": (4, required("all", "all", "right")),
    "right: weights of filled rows without a key alone": (4, weights_of_filled_rows_alone),
}
for label, number in (("−1e9", -1e9), ("−10000", -1e4), ("−65504", -65504.0), ("smallest float32", FLOAT32_MINIMUM)):
    for how in ("put", "added"):
        RIGHT[f"right: {label} {how}"] = (6, fill(number, how))
        RIGHT[f"right: {label} {how}, rows without a key"] = (4, fill(number, how, keyless=True))
for label, number in (("0", 0.0), ("NaN", np.nan), ("equal", "equal")):
    for part in ("all", "part", "weights alone"):
        RIGHT[f"right: {label} in rows without a key, {part}"] = (4, keyless(number, part))


# Wrong answers

MISTAKES = """
weights_transposed weights_transposed_q weights_transposed_k weights_transposed_v bias_forgotten bias_forgotten_q
bias_forgotten_k bias_forgotten_v swap_qk packed_order packed_interleaved v_from_wk one_projection no_projection
v_not_projected relu_projection split_input split_input_shared same_weights reshape_without_transpose strided_heads
heads_reversed not_split reshape_for_transpose scores_transposed k_not_transposed v_for_k elementwise_product no_scale
scale_sqrt_dmodel scale_dk scale_multiplied scale_fourth_root scale_sqrt_heads scale_sqrt_n
scale_after_softmax mask_ignored mask_after_softmax mask_multiplied mask_fill_weak mask_inverted mask_added
mask_added_inverted mask_plus_inf mask_nan padding_on_queries mask_transposed causal_strict causal_one_ahead causal_corner
softmax_columns softmax_heads softmax_all softmax_overflow softmax_plus_one softmax_twice softmax_base2 no_softmax
sum_normalised attention_transposed k_for_v q_for_v weights_averaged merge_without_transpose concat_reversed
concat_interleaved heads_averaged heads_summed heads_max concat_rows wo_missing wo_transposed bo_forgotten residual_added
relu_output gqa_tiled gqa_wrong_divisor gqa_first_only mask_part_ignored rope_missing rope_pairing rope_direction
rope_from_one rope_on_values softcap_missing softcap_after_mask
""".split()
LATER_MISTAKES = """
scale_sqrt_all_heads q_from_wk q_from_wv k_from_wq k_from_wv v_from_wq swap_kv cross_kv_from_x cross_swapped
window_off_by_one padding_other_item alibi_slopes rope_on_q_only rope_restarted rope_base rope_along_heads batch_softmax dropout
cache_reversed
""".split()
PAIRS = {
    "view in and view out": ("reshape_without_transpose", "merge_without_transpose"),
    "all weights transposed": ("weights_transposed", "wo_transposed"),
    "no projection and no W_O": ("no_projection", "wo_missing"),
    "view and a wrong scale": ("reshape_without_transpose", "scale_sqrt_dmodel"),
}
WRONG_FORMS = {
    "": ["exact", "4 decimals at each step", "3 decimals as written", "exact", "4 decimals as written"],
    "in float32": ["float32", "float32, shortest"],
    "in 16 bits": ["float16", "float16, shortest", "bfloat16"],
    "in e-notation": ["e-notation", "printed by NumPy"],
    "in own decimals": ["own decimals", "own decimals at each step"],
}


def mistaken_steps(draw, form, mistake):
    if mistake == "not_split":
        return not_split(draw.p)
    return form.steps(draw.p, mistake, draw.rng)


def mistaken(mistake, forms="", part=False, ids=None):
    def make(draw):
        form = RIGHT_FORMS[str(draw.rng.choice(WRONG_FORMS[forms]))](draw.rng)
        need(mistake != "not_split" or forms == "")
        need(mistake != "scale_sqrt_dmodel" or ids or draw.p.d == draw.p.h * draw.p.d_k)
        need(not draw.p.large_scores or mistake == "softmax_overflow")  # where both are 0 but for the last digits
        answer = form.write(mistaken_steps(draw, form, mistake))
        if part:
            answer = part_of(draw.rng, answer, draw.p)
            shown = {step for step, _ in answer}  # without the weights these masked scores are right: see mask_renormalised
            need(mistake not in ("mask_after_softmax", "mask_ignored") or "masked" not in shown or "weights" in shown)
            need(mistake != "dropout" or "weights" in shown)  # which ones are 0 is chance
        return draw.wrong(form, answer, ids or (mistake.split()[0],))
    return make


def output_alone(mistake):
    def make(draw):
        form = RIGHT_FORMS[str(draw.rng.choice(["exact", "4 decimals as written"]))](draw.rng)
        need(not draw.p.large_scores)  # where any scale gives the same weights
        need(mistake not in ("wo_missing", "no projection and no W_O") or draw.p.h * draw.p.d_v == draw.p.d_out)
        answer = {("output", 0): form.write(form.steps(draw.p, mistake, draw.rng))["output", 0]}
        return draw.wrong(form, answer, PAIRS[mistake])
    return make


def any_mistake(forms, part=False, among=tuple(MISTAKES)):
    def make(draw):
        mistake = str(draw.rng.choice(among))
        need(mistake not in ("softmax_overflow", "mask_fill_weak"))
        need(mistake != "mask_transposed" or draw.p.masks[:1] and draw.p.masks[0][0] == "causal")
        return mistaken(mistake, forms, part)(draw)
    return make


def of_masks(kinds, make):
    def of_these(draw):
        need(any(kind in kinds for kind, _ in draw.p.masks))
        return make(draw)
    return of_these


def wide_model(draw):
    need(draw.p.d != draw.p.h * draw.p.d_k)
    return mistaken("scale_sqrt_dmodel", ids=("scale_sqrt_dmodel",))(draw)


def in_one_head(draw):
    """The work of all heads, one of them with a mistake, up to the heads' outputs."""
    mistake = str(draw.rng.choice(["no_scale", "scale_sqrt_dmodel", "scale_dk", "mask_ignored", "mask_inverted",
                                   "mask_multiplied", "softmax_columns", "softmax_base2", "attention_transposed"]))
    need(draw.p.h > 1 and not draw.p.large_scores and (mistake != "scale_sqrt_dmodel" or draw.p.d == draw.p.h * draw.p.d_k))
    form = any_form(draw.rng)
    answer, wrong = form.write(form.steps(draw.p)), form.write(form.steps(draw.p, mistake))
    head = int(draw.rng.integers(draw.p.h))
    mixed = {key: (wrong if key[1] == head else answer)[key] for key in answer if key[0] in PER_HEAD}
    return draw.wrong(form, mixed, (mistake,))


def relu_in_whole_numbers(draw):
    form = when_written(draw.rng, 0)
    truth = Attention(draw.p).compute()["output"]
    need((truth < -0.85).any() and (truth > 0.85).any())
    answer = {("output", 0): form.write(form.steps(draw.p, "relu_output"))["output", 0]}
    return Case(draw.kind, draw.index, as_json(answer, draw.p, "ids"), "wrong", ("output", None), ("relu_output",))


def before_the_truth(mistake):
    """The step that a mistake makes wrong, and then the true output: it was copied, or the work was done again."""
    def make(draw):
        need(not draw.p.large_scores)
        form = exact(draw.rng)
        truth, wrong = form.write(form.steps(draw.p)), form.write(form.steps(draw.p, mistake, draw.rng))
        answer = {key: texts for key, texts in wrong.items() if key[0] == "weights"}
        answer["output", 0] = truth["output", 0]
        case = draw.wrong(form, answer, (mistake,))
        need(case.first[0] == "weights")
        return case
    return make


def slip_digit(rng, texts, *_):
    index = tuple(rng.integers(texts.shape))
    old = texts[index]
    digits = old.split("e")[0]
    at = [i for i, c in enumerate(digits) if c.isdigit() and digits[:i + 1].strip("-0.")]  # from the first that counts
    need(at and not old.startswith('"'))
    place = int(rng.choice(at[:3]))
    texts[index] = old[:place] + str((int(old[place]) + int(rng.integers(1, 10))) % 10) + old[place + 1:]


def slip_swapped(rng, texts, *_):
    index = tuple(rng.integers(texts.shape))
    old = texts[index]
    digits = old.split("e")[0]
    at = [i for i in range(len(digits) - 1) if digits[i:i + 2].isdigit() and digits[i] != digits[i + 1]]
    need(at)
    i = at[0]
    texts[index] = old[:i] + old[i + 1] + old[i] + old[i + 2:]


def slip_sign(rng, texts, *_):
    at = [index for index, text in np.ndenumerate(texts) if text.startswith("-")]
    need(at)
    index = at[int(rng.integers(len(at)))]
    texts[index] = texts[index][1:]


def slip_row(rng, texts, *_):
    need(texts.shape[1] > 1)
    i, j = rng.permutation(texts.shape[1])[:2]
    texts[:, i] = texts[:, j]


def slip_any(rng, texts, form, key):
    for index, _ in np.ndenumerate(texts):
        texts[index] = form.text(form.dtype(rng.normal(0, 1.5)), key)


SLIPS = {"a digit": slip_digit, "two digits swapped": slip_swapped, "a sign lost": slip_sign, "a row twice": slip_row,
         "numbers that follow from nothing": slip_any}


def proper(texts):
    """No number begins with a 0 before another digit, as JSON has it."""
    for text in texts.flat:
        digits = text.lstrip("-")
        need(not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()))


def slip(change, form_names, part=False):
    def make(draw):
        form = RIGHT_FORMS[str(draw.rng.choice(form_names))](draw.rng)
        need(not draw.p.large_scores or form.name != "float32")
        answer = form.write(form.steps(draw.p))
        if part:
            answer = part_of(draw.rng, answer, draw.p)
        keys = [key for key in answer if key[0] != "masked"]
        need(keys)
        key = keys[int(draw.rng.integers(len(keys)))]
        change(draw.rng, answer[key], form, key)
        proper(answer[key])
        case = draw.wrong(form, answer)
        need(case.first == (key[0], key[1] + 1 if key[0] in PER_HEAD else None))
        return case
    return make


def true_after_slip(form_names):
    """What agrees with the key follows from no error."""
    def make(draw):
        case = slip(SLIPS[str(draw.rng.choice(list(SLIPS)))], form_names, draw.rng.random() < 0.5)(draw)
        case.true_is = ("right",)
        return case
    return make


def whole_number_off(draw):
    """In whole numbers half a unit is what writing accounts for, and no more."""
    need(not draw.p.keyless.any())  # where other outputs may be right
    form = when_written(draw.rng, 0)
    answer = {key: texts for key, texts in form.write(form.steps(draw.p)).items() if key[0] == "output"}
    texts, truth = answer["output", 0], Attention(draw.p).compute()["output"][:, 0]
    index = tuple(draw.rng.integers(texts.shape))
    off = float(texts[index]) + int(draw.rng.choice([-1, 1]))
    need(0.85 < abs(off - truth[index]) < 1.5)
    texts[index] = f"{off:.0f}"
    return Case(draw.kind, draw.index, as_json(answer, draw.p, "ids"), "wrong", ("output", None))


WRONG = {f"mistake: {mistake}": (3, mistaken(mistake)) for mistake in MISTAKES + LATER_MISTAKES}
WRONG["mistake: merge_without_transpose, heads folded into the batch"] = (
    4, mistaken("heads folded into the batch", ids=("merge_without_transpose",)))
WRONG["mistake: scale_sqrt_dmodel, not √(h·d_k)"] = (4, wide_model)
WRONG["mistake: mask_transposed"] = (3, of_masks(["causal"], mistaken("mask_transposed")))
WRONG["mistake: mask_transposed, allow and block"] = (4, of_masks(["allow", "block"], mistaken("mask_transposed")))
WRONG["mistake: swap_qk, each bias with its own"] = (3, mistaken("swap_qk own bias", ids=("swap_qk",)))
WRONG |= {f"pair: {pair}": (3, output_alone(pair)) for pair in PAIRS}
WRONG |= {
    "mistakes, partial": (40, any_mistake("", True)),
    "mistakes in one head": (16, in_one_head),
    "later mistakes, partial": (16, any_mistake("", True, tuple(LATER_MISTAKES))),
    "mistakes in float32": (40, any_mistake("in float32")),
    "mistakes in float32, partial": (16, any_mistake("in float32", True)),
    "mistakes in 16 bits": (24, any_mistake("in 16 bits")),
    "mistakes in e-notation": (24, any_mistake("in e-notation")),
    "mistakes in own decimals": (24, any_mistake("in own decimals")),
    "wrong: a whole number off": (10, whole_number_off),
    "wrong: relu in whole numbers": (4, relu_in_whole_numbers),
}
for mistake in ("weights_averaged", "softmax_columns", "softmax_plus_one", "softmax_twice", "softmax_base2"):
    WRONG[f"wrong before the truth: {mistake}"] = (3, before_the_truth(mistake))
for label, change in SLIPS.items():
    WRONG[f"slip: {label}"] = (12, slip(change, ["exact", "3 decimals at each step", "4 decimals as written"]))
    WRONG[f"slip: {label}, partial"] = (6, slip(change, ["exact", "3 decimals at each step", "4 decimals as written"], True))
    WRONG[f"slip: {label}, in float32"] = (6, slip(change, ["float32, shortest"]))
    if "digit" not in label:  # sums in 16 bits are no surer than a digit or two
        WRONG[f"slip: {label}, in 16 bits"] = (6, slip(change, ["float16", "float16, shortest", "bfloat16"]))
    WRONG[f"slip: {label}, in e-notation"] = (6, slip(change, ["e-notation"]))
    WRONG[f"slip: {label}, in own decimals"] = (6, slip(change, ["own decimals", "own decimals at each step"]))


WRONG |= {
    "true after a slip": (12, true_after_slip(["exact", "4 decimals as written"])),
    "true after a slip, rounded at each step": (16, true_after_slip(["3 decimals at each step"])),
    "true after a slip, in float32": (12, true_after_slip(["float32, shortest"])),
}


# Answers with gaps, and answers that hold a matrix twice


def blank(rng, texts, left=None):
    """Some entries null; or all but `left`."""
    flat = [index for index, _ in np.ndenumerate(texts)]
    count = len(flat) - left if left is not None else int(rng.integers(1, len(flat)))
    for place in rng.permutation(len(flat))[:count]:
        texts[flat[place]] = "null"


def gaps(left=None, wrong=False, part=False):
    def make(draw):
        form = any_form(draw.rng)
        answer = form.write(form.steps(draw.p))
        keys = [key for key, texts in answer.items() if key[0] != "masked" and texts.size > 1]  # there null is −∞
        key = keys[int(draw.rng.integers(len(keys)))]
        if part:
            answer = {key: answer[key]}
        if wrong:
            slip_any(draw.rng, answer[key], form, key)
            first_wrong(draw.p, answer, form)
        case = draw.wrong(form, answer) if wrong else None
        blank(draw.rng, answer[key], 1 if wrong else left)
        if wrong:
            last = [float(t) for t in answer[key].flat if t != "null"][0]
            truth = form.steps(draw.p)[key[0]]
            need(abs(finite_part(truth) - last).min() > 0.3)
        text = as_json(answer, draw.p, layout_for(draw.rng, answer, draw.p))
        return Case(draw.kind, draw.index, text, "wrong" if wrong else "incomplete", case.first if wrong else None)
    return make


def finite_part(x):
    return x[np.isfinite(x)]


def nulls_alone(draw):
    answer = {("output", 0): np.full(Attention(draw.p).compute()["output"][:, 0].shape, "null", object)}
    return Case(draw.kind, draw.index, as_json(answer, draw.p, "ids"), "incomplete")


def nulls_beside(draw):
    form = any_form(draw.rng)
    answer = form.write(form.steps(draw.p))
    answer["output", 0][:] = "null"
    return draw.right(form, answer)


def twice(same):
    def make(draw):
        p = draw.p
        need(p.h > 1 and not p.packed)
        form = exact(draw.rng)
        answer = form.write(form.steps(p))
        other = {key: texts.copy() for key, texts in answer.items() if key[0] == "weights"}
        if not same:
            key = ("weights", int(draw.rng.integers(p.h)))
            other[key][0, 0, 0] = "0.4321"
        one = as_json(answer, p, "ids")
        again = as_json(other, p, "lists")
        return Case(draw.kind, draw.index, one[:-1] + ", " + again[1:], "right" if same else "unusable")
    return make


GAPS = {
    "gaps: some entries": (10, gaps()),
    "gaps: one number left": (8, gaps(left=1)),
    "gaps: one number left of one matrix": (8, gaps(left=1, part=True)),
    "gaps: the number left is wrong": (6, gaps(wrong=True, part=True)),
    "gaps: nothing but nulls": (4, nulls_alone),
    "right: a matrix of nulls beside": (6, nulls_beside),
    "required: all, one left out": (6, required("all", "output", "incomplete")),
    "required: one that is left out": (6, required("weights", "weights", "incomplete")),
    "required: others than the one left out": (4, required("output,weights", "concat", "right")),
    "given twice: equal": (4, twice(True)),
    "given twice: different": (4, twice(False)),
}

KINDS = RIGHT | WRONG | GAPS


def cases(kind, pool, seed, share=1.0):
    """Of one kind, each on another problem of the pool."""
    count, make = KINDS[kind]
    count = max(1, round(count * share))
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    result = []
    for index in [int(i) for i in rng.permutation(len(pool))] * 3:
        if len(result) == count:
            break
        try:
            result.append(make(Draw(kind, rng, pool[index], index)))
        except (DoesNotFit, Unclear):
            continue
    return result
