// What is to be computed: X, the weights and the rules of an attention layer, or of a stack of such, checked and in one
// form.
#pragma once

#include <optional>

#include "core/error.hpp"
#include "core/op.hpp"
#include "core/tensor.hpp"
#include "core/text.hpp"

namespace mha {

// A title or description: one text, or one for each language. `zh` is empty unless `bilingual`.
struct Caption {
  std::string en;
  std::string zh;
  bool bilingual = false;

  bool empty() const { return en.empty() && zh.empty(); }
  const std::string& in(Language language) const { return bilingual && language == Language::zh ? zh : en; }
};

// Token labels: no list, one for all items of the batch, or one for each item.
using Labels = std::vector<std::vector<std::string>>;

// Where query i stands among the keys: at key i + offset. As the person wrote it.
struct Align {
  enum class Kind { top_left, bottom_right, offset, per_item };
  Kind kind = Kind::top_left;
  std::vector<Index> offsets;  // one for `offset`, one for each batch item for `per_item`

  Index offset(Index item, Index queries, Index keys) const;
};

// One mask as the person wrote it; `mask_tensor` (core/mask.hpp) gives its numbers.
struct Mask {
  enum class Kind { none, causal, window, padding, allow, block, add, alibi };
  Kind kind = Kind::none;
  bool short_form = true;                     // "causal" rather than {"causal": {…}}
  std::optional<Align> align;                 // causal, window, alibi: as given
  std::optional<Index> left, right;           // window; absent: no limit on that side
  std::optional<std::vector<double>> slopes;  // alibi: as given, one for each head
  Tensor matrix;        // padding: b×1×1×m of 0/1; allow, block: 0/1; add: numbers. b, heads, rows may be 1
  int matrix_axes = 2;  // axes of the matrix in the file, for writing it back: 1 or 2 for padding, 2 to 4 else
};

struct Scale {
  enum class Kind { inverse_root_of_d_k, number, none };
  Kind kind = Kind::inverse_root_of_d_k;
  double number = 0;  // for Kind::number
};

enum class Pairing { half, interleaved };

// The two columns that turn together as pair t: (t, t + pairs) for half, (2t, 2t + 1) for interleaved.
struct Columns {
  Index first, second;
};
constexpr Columns columns_of_pair(Pairing pairing, Index t, Index pairs) {
  return pairing == Pairing::half ? Columns{t, t + pairs} : Columns{2 * t, 2 * t + 1};
}

// Rotary positions (Su et al. 2021): pair t turns at position p by the angle p·base^(−2t/dims).
struct Rope {
  double base = 10000;
  Pairing pairing = Pairing::half;
  Index dims = 0;  // even, at most d_k; the columns from dims on are left as they are
  Index start = 0;
  std::optional<std::vector<Index>> positions;     // one for each query
  std::optional<std::vector<Index>> positions_kv;  // one for each key

  Index query_position(Index i) const;
  // In self-attention the keys stand where the queries stand unless positions_kv says otherwise.
  Index key_position(Index j, bool cross_attention) const;
};

// A weight matrix and its bias. Per head: 1×h×rows×cols and 1×h×1×cols; packed, or for all heads: 1×1×rows×cols.
// With Layout::torch rows and cols of W are exchanged (out×in), those of b are not.
struct Linear {
  Tensor W;
  std::optional<Tensor> b;
  std::vector<bool> has_b = {};  // by head, where some have a bias and others none, whose b is 0; empty: all alike
};

enum class Layout { x_at_w, torch };

// A norm with its parameters; gamma and beta are 1×1×1×d.
struct NormRule {
  Norm rule;
  std::optional<Tensor> gamma, beta;
};

// The part behind the attention, each token by itself: act(x·W_1 + b_1)·W_2 + b_2, or with a gate
// (act(x·W_gate + b_gate) ∘ (x·W_1 + b_1))·W_2 + b_2 (Shazeer 2020). In the layout of the problem.
struct Mlp {
  Linear first, second;
  std::optional<Linear> gate;
  Activation activation = Activation::none;
};

enum class NormPlace { pre, post };

// What is differentiated, of the result P: Σ P, the mean of (P − T)², ½ Σ (P − T)², the mean over the rows of
// −log softmax(P)[row, index], or nothing but its gradient G.
struct Loss {
  enum class Kind { sum, mse, half_squares, cross_entropy, gradient };
  Kind kind = Kind::sum;
  Tensor target = Tensor({1, 1, 0, 0});  // T or G, b×1×n×d; or the indices from 0, b×1×1×n
};

struct Problem {
  std::string name;  // of the file, - or the example that it was read from
  Caption title;
  Caption description;
  Labels tokens, tokens_kv;
  bool batched = false;                 // X was batch×n×d_model in the file
  Tensor X;                             // b×1×n×d_model
  std::optional<Tensor> X_kv;           // b×1×m×d_kv: cross-attention
  bool packed = false;                  // Q, K, V hold all heads side by side in one matrix
  bool fused = false;                   // packed, and the file had one W_QKV
  bool grouped = false;                 // the file says kv_heads or num_kv_heads
  Index heads = 1, kv_heads = 1;        // h and g; g divides h
  std::vector<std::string> head_names;  // empty, or one for each head ("" where none was given)
  Linear Q, K, V;
  Linear O;                       // (h·d_v)×d_out; unused when output_is_concat
  bool output_is_concat = false;  // "W_O": "identity"
  Layout layout = Layout::x_at_w;
  std::vector<Mask> masks;  // in the order of the file
  bool mask_is_list = false;
  Scale scale;
  std::optional<double> softcap;
  std::optional<Rope> rope;
  bool residual = false;  // around the attention, and around the MLP
  std::optional<NormRule> norm, mlp_norm;
  std::optional<NormPlace> norm_place;  // as given; pre where a norm stands without it
  std::optional<Mlp> mlp;
  std::optional<NormRule> final_norm;  // of the whole, never in a layer
  std::optional<Loss> loss;            // likewise
  // A stack: each of them one attention layer with its block, whose X has the shape of what it receives and no numbers
  // (the first one's has). Then no weights stand above.
  std::vector<Problem> layers;
  std::vector<std::shared_ptr<const Tensor>> earlier;  // of a later layer on its own: what those before it read
  std::vector<std::string> files;                      // in which matrices lie, by the paths that lead there from here

  const Tensor& keys_from() const { return X_kv ? *X_kv : X; }
  Index batch() const { return X.shape().batch; }
  Index queries() const { return X.shape().rows; }         // n
  Index keys() const { return keys_from().shape().rows; }  // m
  Index d_model() const { return X.shape().cols; }
  Index d_kv() const { return keys_from().shape().cols; }
  Index d_k() const { return width(Q) / (packed ? heads : 1); }
  Index d_v() const { return width(V) / (packed ? kv_heads : 1); }
  Index d_out() const { return output_is_concat ? heads * d_v() : width(O); }
  Index mlp_width() const { return width(mlp->first); }  // f
  int layer_count() const { return layers.empty() ? 1 : static_cast<int>(layers.size()); }
  const Problem& layer(int i) const { return layers.empty() ? *this : layers[static_cast<std::size_t>(i)]; }
  Index most_heads() const;  // of a layer
  bool is_post_norm() const { return norm_place == NormPlace::post; }
  // Columns of what a layer gives; of a stack, of what its last one gives.
  Index d_result() const { return !layers.empty() ? layers.back().d_result() : mlp ? width(mlp->second) : d_out(); }
  double scale_factor() const;  // the number that multiplies the scores; 1 for Kind::none

 private:
  // Columns of X·W.
  Index width(const Linear& linear) const {
    return layout == Layout::torch ? linear.W.shape().rows : linear.W.shape().cols;
  }
};

// "mine.json: layers[1].mask: …": what the problem says there, a command cannot work with.
template <typename... Parts>
Error refusal(const Problem& problem, std::string_view path, const Text& why, const Parts&... parts) {
  return Error({"{}: {}: {}", "{}: {}: {}"}, problem.name, path, say(why, parts...));
}

// For each of the heads of a projection the first one (all from 0) with the same numbers in W and b: itself where none
// before it has them. Of what lies in a file, no more rows are read than it takes to tell the heads apart.
std::vector<Index> first_alike(const Linear& projection, Index heads, Layout layout);

// The same problem with one item (from 0) of the batch, as a batch of one.
Problem select_item(const Problem& problem, Index item);

}  // namespace mha
