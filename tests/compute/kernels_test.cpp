// Each copy of the CPU's kernels that this machine can run, against plain loops.
#include <map>

#include "catch.hpp"
#include "compute/cpu_variants.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"

namespace mha::test {
namespace {

// For as long as it lives; then the program chooses again.
struct Chosen {
  explicit Chosen(std::string_view name) { choose_cpu_variant(name); }
  ~Chosen() { choose_cpu_variant(""); }
};

template <typename T>
const Kernels<T>& kernels_of(std::string_view name) {
  const Chosen chosen(name);
  const CpuKernels* kernels = cpu_kernels_for({});
  if constexpr (std::is_same_v<T, float>)
    return kernels->f32;
  else
    return kernels->f64;
}

std::vector<std::string_view> compiled_kernels() {
  std::vector<std::string_view> names = cpu_variants();
  names.erase(names.begin());  // plain
  return names;
}

template <typename T>
std::vector<T> numbers(Dice& dice, Index count) {
  std::vector<T> result(static_cast<std::size_t>(count));
  for (T& number : result) number = static_cast<T>(dice.number());
  return result;
}

constexpr Index gap = 3;

// Rows stand wider apart than they are long, as in a view into a larger matrix.
struct Case {
  Index rows, inner, cols;
  bool transposed;
  bool a_transposed;  // stands as inner×rows
  Index a_stride() const { return (a_transposed ? rows : inner) + gap; }
  Index a_at(Index i, Index k) const { return a_transposed ? k * a_stride() + i : i * a_stride() + k; }
};
template <typename T>
std::vector<T> product(const Kernels<T>& k, const Case& c, const std::vector<T>& a, const std::vector<T>& b,
                       const std::vector<T>& bias, Index rows_at_once) {
  const Index b_stride = (c.transposed ? c.inner : c.cols) + gap, c_stride = c.cols + gap;
  std::vector<T> packed(static_cast<std::size_t>(k.packed_size(c.inner, c.cols)));
  for (Index first = 0; first < c.cols; first += packed_together)
    k.pack({b.data(), b_stride, c.transposed, c.inner, c.cols, first, std::min(first + packed_together, c.cols),
            packed.data()});
  std::vector<T> result(static_cast<std::size_t>(c.rows * c_stride), T(-7));
  for (Index i = 0; i < c.rows; i += rows_at_once)
    k.product({a.data() + c.a_at(i, 0), c.a_at(1, 0), c.a_at(0, 1), packed.data(), result.data() + i * c_stride, c_stride,
               std::min(rows_at_once, c.rows - i), c.inner, c.cols, bias.empty() ? nullptr : bias.data()});
  return result;
}

// The same from two halves of the inner size, the second added to the first.
template <typename T>
std::vector<T> added_product(const Kernels<T>& k, const Case& c, const std::vector<T>& a, const std::vector<T>& b) {
  const Index b_stride = c.cols + gap, c_stride = c.cols + gap;
  std::vector<T> result(static_cast<std::size_t>(c.rows * c_stride), T(-7));
  for (Index first = 0, count = (c.inner + 1) / 2; first < c.inner; first += count, count = c.inner - count) {
    std::vector<T> packed(static_cast<std::size_t>(k.packed_size(count, c.cols)));
    k.pack({b.data() + first * b_stride, b_stride, false, count, c.cols, 0, c.cols, packed.data()});
    k.product({a.data() + c.a_at(0, first), c.a_at(1, 0), c.a_at(0, 1), packed.data(), result.data(), c_stride, c.rows,
               count, c.cols, nullptr, first > 0});
  }
  return result;
}

template <typename T>
void check_product(std::string_view name, const Case& c, Dice& dice) {
  const Kernels<T>& kernels = kernels_of<T>(name);
  const Index b_stride = (c.transposed ? c.inner : c.cols) + gap, c_stride = c.cols + gap;
  const std::vector<T> a = numbers<T>(dice, (c.a_transposed ? c.inner : c.rows) * c.a_stride());
  const std::vector<T> b = numbers<T>(dice, (c.transposed ? c.cols : c.inner) * b_stride);
  const std::vector<T> bias = dice.whole(0, 1) == 1 ? numbers<T>(dice, c.cols) : std::vector<T>{};
  const std::vector<T> result = product(kernels, c, a, b, bias, c.rows);
#if !defined(MHA_SANITIZE)  // in whose build clang does not always make one operation of a product and a sum
  CHECK(product(kernels, c, a, b, bias, 1) == result);
  CHECK(product(kernels, c, a, b, bias, 5) == result);
#endif
  const std::vector<T> added = c.transposed || !bias.empty() ? result : added_product(kernels, c, a, b);
  double worst = 0, touched = 0;
  for (Index i = 0; i < c.rows; ++i) {
    for (Index j = 0; j < c.cols; ++j) {
      double sum = bias.empty() ? 0 : static_cast<double>(bias[static_cast<std::size_t>(j)]);
      for (Index k = 0; k < c.inner; ++k)
        sum += static_cast<double>(a[static_cast<std::size_t>(c.a_at(i, k))]) *
               static_cast<double>(b[static_cast<std::size_t>(c.transposed ? j * b_stride + k : k * b_stride + j)]);
      for (const std::vector<T>& found : {result, added})
        worst = std::max(worst, std::abs(sum - static_cast<double>(found[static_cast<std::size_t>(i * c_stride + j)])));
    }
    for (Index j = c.cols; j < c_stride; ++j) touched += result[static_cast<std::size_t>(i * c_stride + j)] != T(-7);
  }
  INFO(name << " " << c.rows << "×" << c.inner << " · " << c.inner << "×" << c.cols << (c.transposed ? " transposed" : ""));
  CHECK(worst < static_cast<double>(c.inner + 1) * 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  CHECK(touched == 0);
}

template <typename T>
void check_softmax(std::string_view name, Index cols, Dice& dice) {
  std::vector<T> z = numbers<T>(dice, cols), weights(z.size());
  for (T& number : z) {
    number *= 30;
    if (dice.whole(0, 4) == 0) number = -std::numeric_limits<T>::infinity();
  }
  z[static_cast<std::size_t>(dice.whole(0, cols - 1))] = T(40);
  kernels_of<T>(name).softmax(z.data(), cols, weights.data());
  double sum = 0, total = 0;
  const auto power = [](T number) { return std::exp(static_cast<double>(number - T(40))); };
  for (const T number : z) sum += power(number);
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double expected = power(z[j]) / sum, found = static_cast<double>(weights[j]);
    total += found;
    if (std::isinf(z[j]))
      CHECK(found == 0);
    else if (expected > 1e-37)
      CHECK(std::abs(found / expected - 1) < 8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
  CHECK(std::abs(total - 1) < 1e-5);
}

template <typename T>
std::vector<T> softmax_of(std::string_view name, std::vector<T> z) {
  std::vector<T> out(z.size());
  kernels_of<T>(name).softmax(z.data(), static_cast<Index>(z.size()), out.data());
  return out;
}

template <typename T>
void check_strange_rows(std::string_view name) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const std::size_t cols : {1, 2, 16, 40}) {
    for (const T number : softmax_of(name, std::vector<T>(cols, -inf))) CHECK(number == 0);
    for (std::size_t at = 0; at < cols; ++at)
      for (const T others : {T(1), -inf}) {
        std::vector<T> row(cols, others);
        row[at] = nan;
        for (const T number : softmax_of(name, row)) CHECK(std::isnan(number));
      }
  }
  CHECK(softmax_of<T>(name, {0, -1e30F}) == std::vector<T>{1, 0});
}

Problem layer(Index tokens) {
  Dice dice(11);
  Sizes s;
  s.tokens = s.keys = tokens;
  s.d_model = 40;
  s.heads = 4;
  s.kv_heads = 2;
  s.d_k = 19;
  s.d_v = 33;
  Problem p = random_problem(dice, s);
  p.masks = {causal_mask()};
  return p;
}

}  // namespace

TEST_CASE("every copy of the kernels multiplies as plain loops do, whatever rows are taken together", "[kernels]") {
  Dice dice(1);
  for (const std::string_view name : compiled_kernels())
    for (const Index rows : {1, 2, 6, 17})
      for (const Index inner : {1, 3, 128, 129, 300})
        for (const Index cols : {1, 2, 15, 16, 17, 65, 129}) {
          check_product<float>(name, {rows, inner, cols, dice.whole(0, 1) == 1, dice.whole(0, 1) == 1}, dice);
          check_product<double>(name, {rows, inner, cols, dice.whole(0, 1) == 1, dice.whole(0, 1) == 1}, dice);
        }
}

template <typename T>
void check_rows_of_slopes(std::string_view name, Index cols, Dice& dice) {
  const std::vector<T> a = numbers<T>(dice, cols), b = numbers<T>(dice, cols);
  std::vector<T> out(a.size());
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  CHECK(std::abs(kernels_of<T>(name).dot(a.data(), b.data(), cols) - sum) < 1e-12);
  kernels_of<T>(name).take_off(a.data(), b.data(), sum, cols, out.data());
  for (std::size_t j = 0; j < a.size(); ++j)
    CHECK(out[j] == static_cast<T>(static_cast<double>(a[j]) * (static_cast<double>(b[j]) - sum) + 0.0));
}

TEST_CASE("every copy of the kernels takes a softmax back in doubles", "[kernels]") {
  Dice dice(3);
  for (const std::string_view name : compiled_kernels())
    for (const Index cols : {1, 7, 8, 9, 40, 129}) {
      check_rows_of_slopes<float>(name, cols, dice);
      check_rows_of_slopes<double>(name, cols, dice);
    }
}

TEST_CASE("every copy of the kernels computes weights to the last digits", "[kernels]") {
  Dice dice(2);
  for (const std::string_view name : compiled_kernels()) {
    for (const Index cols : {1, 2, 3, 7, 8, 15, 16, 17, 31, 65, 129, 1000}) {
      check_softmax<float>(name, cols, dice);
      check_softmax<double>(name, cols, dice);
    }
    check_strange_rows<float>(name);
    check_strange_rows<double>(name);
  }
}

TEST_CASE("every copy of the kernels computes the same layer; those that multiply and add in one step to the bit",
          "[kernels]") {
  for (const Index tokens : {1, 3, 65, 129}) {
    const Problem p = layer(tokens);
    const auto run_with = [&](std::string_view name, Dtype dtype) {
      const Chosen chosen(name);
      return Run(p, dtype);
    };
    const Run exact = run_with("plain", Dtype::f64);
    std::map<Dtype, std::vector<Run>> fused;
    for (const std::string_view name : compiled_kernels())
      for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
        const Run run = run_with(name, dtype);
        for (const Step& step : exact.plan.steps) {
          INFO(name << " " << dtype_name(dtype) << " " << name_of(step.id).id << ", tokens " << tokens);
          CHECK(difference(run[step.id], exact[step.id]) < (dtype == Dtype::f64 ? 1e-12 : 1e-4));
        }
        if (name == "v3" || name == "v4") fused[dtype].push_back(run);
      }
    for (const auto& [dtype, runs] : fused)
      for (const Step& step : exact.plan.steps) CHECK(same_bits(runs.front()[step.id], runs.back()[step.id]));
  }
}

TEST_CASE("a small problem is computed by plain loops unless kernels are asked for by name", "[kernels]") {
  const Plan small = make_plan(layer(3)), large = make_plan(layer(129));
  CHECK(cpu_kernels_name(small) == "plain");
  CHECK(cpu_kernels_name(large) == cpu_variants().back());
  for (const std::string_view name : cpu_variants()) {
    const Chosen chosen(name);
    CHECK(cpu_kernels_name(small) == name);
  }
  CHECK_THROWS_WITH(choose_cpu_variant("v33"), Catch::Contains("MHA_CPU='v33'") && Catch::Contains("plain"));
}

}  // namespace mha::test
