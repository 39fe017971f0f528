// Cuts the plan to new rows, puts caches where it reads keys and values, and runs it step after step; in files each step
// has the form of a trace.
#include "study/decode/decode.hpp"

#include "compute/cost.hpp"
#include "io/json/writer.hpp"
#include "io/problem/problem_writer.hpp"
#include "show/words/notation.hpp"
#include "study/mistakes/plan_editor.hpp"
#include "study/table/steps_csv.hpp"

namespace mha::study {
namespace {

constexpr Text needs_X_kv{
    "decoding writes keys and values from X, token by token, but the steps K and V read X_kv; `mha run` computes "
    "cross-attention",
    "解码时由 X 逐个词元写出键和值，而这里的步骤 K 和 V 读取 X_kv；交叉注意力请用 `mha run`"};
constexpr Text needs_later{
    "the step {0} needs tokens that are written later: query {1} may look at key {2} ({3}); \"mask\": \"causal\" hides "
    "them",
    "步骤 {0} 要用到后面才写出的词元：查询 {1} 能看到键 {2}（{3}）；请用 \"mask\": \"causal\" 遮住它们"};

// Each later key is hidden, or so far below the keys so far that it adds exactly 0 to the sum of its row.
void expect_no_later_key(const Problem& problem, int layer, const Plan& plan, const Trace& run, Index index_base) {
  const Problem& own = problem.layer(layer);
  std::vector<Tensor> masks;
  for (const Mask& mask : own.masks) masks.push_back(mask_tensor(mask, own));
  const Tensor& z = *run.value(plan.writer_of(*plan.find(StepId::weights, layer))->in[0]);
  for_each_entry(z.shape(), [&](const Entry& at) {
    const auto hides = [&](const Tensor& mask) { return mask.spread(z.shape(), at) == show::minus_infinity; };
    if (at.column <= at.row || std::any_of(masks.begin(), masks.end(), hides)) return;
    const double* const row = z.matrix(0, at.head) + at.row * z.shape().cols;
    if (std::exp(row[at.column] - *std::max_element(row, row + at.row + 1)) == 0) return;
    const bool stack = !problem.layers.empty();
    throw refusal(problem, stack ? fmt::format("layers[{}].mask", layer) : "mask", needs_later,
                  (stack ? fmt::format("layer{}.", layer + index_base) : "") + "weights", at.row + index_base,
                  at.column + index_base, Saying{show::masks_text(own, Language::en), show::masks_text(own, Language::zh)});
  });
}

// These rows and columns of each matrix.
std::shared_ptr<const Tensor> part_of(const Tensor& whole, compute::Range rows, compute::Range columns) {
  const auto part =
      std::make_shared<Tensor>(Shape{1, whole.shape().heads, rows.last - rows.first, columns.last - columns.first});
  for_each_entry(part->shape(), [&](const Entry& at) {
    part->at(at) = whole.at(0, at.head, rows.first + at.row, columns.first + at.column);
  });
  return part;
}

bool is_product_over_keys(const Step& step) {
  return step.id == StepId::scores || step.id == StepId::head_output;
}

const Past& past_of(const Plan& plan, const Value& value) {
  return plan.past[static_cast<std::size_t>(value.layer)];
}

// What is given for each row, cut to these; keys and values are read from caches.
Plan plan_of_rows(const Plan& whole, const Problem& problem, compute::Range rows) {
  Plan plan = whole;
  for (int layer = 0; layer < problem.layer_count(); ++layer)
    plan.past.push_back({rows.first, dropped_before(problem.layer(layer), rows.first)});
  for (Value& value : plan.values) {
    const bool is_mask = value.role == Value::Role::mask;
    if (!is_mask && value.role != Value::Role::input && value.role != Value::Role::constant) continue;
    const compute::Range keys{past_of(plan, value).dropped, rows.last};
    const Index cols = value.shape.cols;
    value.constant = part_of(*value.constant, value.shape.rows == 1 ? compute::Range{0, 1} : rows,
                             is_mask && cols > 1 ? keys : compute::Range{0, cols});
    value.shape = value.constant->shape();
  }
  for (Step& step : plan.steps) {
    if (!is_product_over_keys(step)) continue;
    Value cache = plan.value(step.in[1]);
    cache.role = Value::Role::cache;
    cache.step.reset();
    cache.newest = step.in[1];
    cache.shape.rows = rows.last - past_of(plan, cache).dropped;
    step.in[1] = static_cast<ValueId>(plan.values.size());
    plan.values.push_back(std::move(cache));
  }
  infer_shapes(plan);
  return plan;
}

// Of the first `rows` of n rows, with as many keys.
Index multiply_adds_of(const Plan& plan, Index rows, Index n) {
  Index sum = 0;
  for (const Step& step : plan.steps) {
    Index own = compute::count_of(plan, step).multiply_adds / n * rows;
    if (is_product_over_keys(step)) own = own / n * rows;
    sum = compute::exact_sum(sum, own);
  }
  return sum;
}

// The run alone has a score for a key that was dropped.
void compare_with_run(const DecodedStep& step, const Trace& run, Decoding& all) {
  for (std::size_t id = 0; id < run.values.size(); ++id) {
    const Value& value = step.plan.values[id];
    if (!run.values[id]) continue;
    const Index dropped = dropped_columns(step, value);
    for_each_entry(value.shape, [&](const Entry& at) {
      const double own = step.trace.values[id]->at(at);
      const double other = run.values[id]->at(0, at.head, step.first + at.row, dropped + at.column);
      if (own == other) return;
      if (std::isnan(own) && std::isnan(other)) return (void)all.rows_of_NaN.insert(step.first + at.row);
      const double apart = std::abs(own - other);
      all.difference = std::max(all.difference, std::isnan(apart) ? -show::minus_infinity : apart);
    });
  }
}

// The step's trace with a column for each key so far: −∞, or weight 0, for what a window has dropped.
Trace with_dropped_keys(const DecodedStep& step) {
  Trace trace = step.trace;
  for (std::size_t id = 0; id < trace.values.size(); ++id) {
    const Value& value = step.plan.values[id];
    const Index dropped = dropped_columns(step, value);
    if (dropped == 0) continue;
    const auto wide = std::make_shared<Tensor>(Shape{1, value.shape.heads, value.shape.rows, dropped + value.shape.cols});
    wide->fill(value.step == StepId::weights ? 0 : show::minus_infinity);
    for_each_entry(value.shape, [&](Entry at) {
      const double number = trace.values[id]->at(at);
      at.column += dropped;
      wide->at(at) = number;
    });
    trace.values[id] = wide;
  }
  return trace;
}

// Of a stack for each layer.
void write_caches(io::JsonWriter& json, const Decoding& decoding, bool stack) {
  json.begin_object("cache");
  if (stack) json.begin_array("layers");
  for (std::size_t i = 0; i < decoding.kept.size(); i += 2) {
    if (stack) json.begin_object(), json.integer("layer", static_cast<Index>(i / 2 + 1));
    json.begin_array("heads");
    for (Index head = 0; head < decoding.kept[i].shape().heads; ++head) {
      json.begin_object();
      json.integer("kv_head", head + 1);
      for (const auto& [name, cache] : {std::pair("K", &decoding.kept[i]), std::pair("V", &decoding.kept[i + 1])}) {
        const Shape& shape = cache->shape();  // perhaps without rows
        json.key(name);
        json.matrix(cache->data() + head * shape.rows * shape.cols, shape.rows, shape.cols, decoding.run.dtype);
      }
      json.end();
    }
    json.end();
    if (stack) json.end();
  }
  if (stack) json.end();
  json.end();
}

}  // namespace

Index dropped_columns(const DecodedStep& step, const Value& value) {
  const bool by_key = value.step && *value.step >= StepId::scores && *value.step <= StepId::weights;
  return by_key ? past_of(step.plan, value).dropped : 0;
}

Index dropped_before(const Problem& layer, Index next) {
  Index first = 0;
  for (const Mask& mask : layer.masks)
    if (mask.kind == Mask::Kind::window && mask.left)
      first = std::max(first, next + mask.align.value_or(Align{}).offset(0, layer.queries(), layer.keys()) - *mask.left);
  return std::min(first, next);
}

Decoding decode(const Problem& problem, Index prompt, Index index_base, compute::RunOptions options) {
  if (problem.X_kv) throw refusal(problem, "X_kv", needs_X_kv);
  Decoding all{make_plan(problem), {}, {}, {}, {}, {}, 0, 0, {}};
  options.keep = compute::values_to_keep(all.whole, Selection{}, false);
  options.keep[0] = false;  // X
  all.run = compute::run(all.whole, options);
  for (int layer = 0; layer < problem.layer_count(); ++layer)
    expect_no_later_key(problem, layer, all.whole, all.run, index_base);
  options.whole = &all.whole;
  for (Index first = 0, count = prompt; first < problem.queries(); first += count, count = 1) {
    const Index last = first + count;
    DecodedStep step{first, count, plan_of_rows(all.whole, problem, {first, last}), {}};
    options.keep.resize(step.plan.values.size(), true);  // the caches
    options.earlier.resize(step.plan.values.size());
    step.trace = compute::run(step.plan, options);
    options.earlier = step.trace.values;
    all.projected_tokens.cached += count;
    all.projected_tokens.anew += last;
    const auto add = [](Index& sum, Index number) { sum = compute::exact_sum(sum, number); };
    add(all.multiply_adds.cached, multiply_adds_of(step.plan, 1, 1));
    add(all.multiply_adds.anew, multiply_adds_of(all.whole, last, problem.queries()));
    compare_with_run(step, all.run, all);
    all.steps.push_back(std::move(step));
  }
  const DecodedStep& last = all.steps.back();
  for (std::size_t id = all.whole.values.size(); id < last.plan.values.size(); ++id) {
    const Value& cache = last.plan.values[id];
    const Index gone = dropped_before(problem.layer(cache.layer), problem.queries()) - past_of(last.plan, cache).dropped;
    all.kept.push_back(*part_of(*last.trace.values[id], {gone, cache.shape.rows}, {0, cache.shape.cols}));
    all.cache_numbers += all.kept.back().size();
  }
  return all;
}

void write_decoding_csv(io::Sink& sink, const Problem& problem, const Decoding& decoding, Selection selection) {
  selection.steps[static_cast<std::size_t>(StepId::X)] = false;  // given, not computed
  sink.write(steps_csv_header);
  for (const DecodedStep& step : decoding.steps)
    write_steps_csv(sink, problem, step.plan, with_dropped_keys(step), selection, step.first);
}

void write_decoding(io::Sink& sink, const Problem& problem, const Decoding& decoding, Selection selection) {
  selection.steps[static_cast<std::size_t>(StepId::X)] = false;  // given, not computed
  io::JsonWriter json(sink);
  json.begin_file("mha-decode");
  io::write_config(json, problem);
  json.objects("steps", decoding.steps, [&](const DecodedStep& step) {
    json.integer("first", step.first + 1);
    json.integer("count", step.count);
    io::write_computed(json, problem, step.plan, with_dropped_keys(step), selection, false);
  });
  write_caches(json, decoding, !problem.layers.empty());
  json.begin_object("cost");
  for (const auto& [name, work] :
       {std::pair("projected_tokens", decoding.projected_tokens), std::pair("multiply_adds", decoding.multiply_adds)}) {
    json.begin_object(name, io::Spread::line);
    json.integer("cached", work.cached);
    json.integer("anew", work.anew);
    json.end();
  }
  json.integer("cache_numbers", decoding.cache_numbers);
  json.end();
  json.number("difference", decoding.rows_of_NaN.empty() ? decoding.difference : std::nan(""));
  json.finish();
}

}  // namespace mha::study
