// Where the CPU backend keeps its values: whole, as a view into another value, or as one block for each worker.
#pragma once

#include "compute/backend.hpp"
#include "compute/cost.hpp"
#include "compute/floats.hpp"
#include "core/numbers.hpp"

namespace mha::compute {

// Row i begins at data + i·stride; its entries are neighbours. A stride of 0 is one row for all.
template <typename T>
struct Rows {
  T* data;
  Index stride;
  T* operator[](Index i) const { return data + i * stride; }
};

template <typename T>
std::shared_ptr<T> make_buffer(Index count) {
  if (count < 0 || static_cast<std::size_t>(count) > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
  return {static_cast<T*>(allocate_block(static_cast<std::size_t>(count) * sizeof(T))), &std::free};
}

template <typename T>
class CpuValues {
 public:
  CpuValues(const Plan& plan, const Schedule& schedule)
      : plan_(plan), schedule_(schedule), slots_(plan.values.size()), blocks_(1, slots_) {}

  void set(ValueId id, const std::shared_ptr<const Tensor>& value) {
    Slot& slot = slots_[at(id)] = contiguous(value->shape());
    if (is_read_by_rows(id, *value)) {
      slot.tensor = value;
      slot.by_rows = value->stored();
      return;
    }
    if constexpr (std::is_same_v<T, double>) {
      slot.data = value->data();
      slot.tensor = value;
    } else {
      const std::shared_ptr<T> numbers = make_buffer<T>(value->size());
      to_floats(*value, plan_.value(id).symbol, numbers.get());
      slot.data = numbers.get();
      slot.owner = numbers;
    }
  }

  std::shared_ptr<const Tensor> get(ValueId id) const {
    const Slot& slot = slots_[at(id)];
    assert((slot.data != nullptr || slot.by_rows) && !is_only_blocks(id));
    if (slot.by_rows && !std::is_same_v<T, double>) return rounded(*slot.tensor);
    if (slot.tensor) return slot.tensor;
    const Shape& shape = plan_.value(id).shape;
    auto tensor = std::make_shared<Tensor>(shape);
    T const* from = nullptr;
    for (Index item = 0; item < shape.batch; ++item)
      for (Index head = 0; head < shape.heads; ++head)
        for (Index row = 0; row < shape.rows; ++row) {
          from = slot.data + item * slot.item + head * slot.head + row * slot.row;
          std::copy_n(from, shape.cols, tensor->matrix(item, head) + row * shape.cols);
        }
    return tensor;
  }

  void drop(ValueId id) {
    slots_[at(id)] = {};
    for (std::vector<Slot>& blocks : blocks_) blocks[at(id)] = {};
  }

  bool is_only_blocks(ValueId id) const { return schedule_.only_blocks[at(id)]; }

  // At most so many workers at once will ask for blocks.
  void expect_workers(int count) {
    if (blocks_.size() < static_cast<std::size_t>(count))
      blocks_.resize(static_cast<std::size_t>(count), std::vector<Slot>(slots_.size()));
    if (room_.size() < blocks_.size()) room_.resize(blocks_.size());
  }

  // Room for the whole value, uninitialised, unless there is some. What the heads compute and a merge puts side by side
  // stands side by side from the start.
  void make_room(ValueId id) {
    Slot& slot = slots_[at(id)];
    if (slot.own) return;
    const Shape& shape = plan_.value(id).shape;
    if (const Step* merge = merge_of(id)) {
      const Slot& whole = slots_[at(merge->out)];
      if (whole.data == nullptr) make_room(merge->out);
      if (whole.own) {
        slot = Slot{whole.owner, whole.data, whole.item, shape.cols, whole.row, true, nullptr, nullptr};
        return;
      }
    }
    slot = contiguous(shape);
    slot.own = true;
    if constexpr (std::is_same_v<T, double>) {
      const auto tensor = std::make_shared<Tensor>(shape);
      slot.data = tensor->data();
      slot.owner = slot.tensor = tensor;
    } else {
      const std::shared_ptr<T> numbers = make_buffer<T>(shape.size());
      slot.data = numbers.get();
      slot.owner = numbers;
    }
  }

  bool is_view(const Step& step) const { return compute::is_view(plan_, step); }
  void place_view(const Step& step) {
    const Slot& whole = slots_[at(step.in[0])];
    const Shape& to = plan_.value(step.out).shape;
    const bool reversed = step.arrangement == Arrangement::reversed;
    const T* first = whole.data + (reversed ? (to.heads - 1) * to.cols : 0);
    Slot& slot = slots_[at(step.out)];
    if (slot.data == first && slot.row == whole.row) return;
    slot = Slot{whole.tensor ? std::shared_ptr<const void>(whole.tensor) : whole.owner,
                first,
                whole.item,
                reversed ? -to.cols : to.cols,
                whole.row,
                false,
                nullptr,
                nullptr};
  }

  // Whether the operand of this merge stands in its result already.
  bool is_in_place(const Step& step) const {
    const Slot &from = slots_[at(step.in[0])], &to = slots_[at(step.out)];
    return merge_of(step.in[0]) == &step && from.own && to.own && from.data == to.data;
  }

  // Rows of one matrix, from row `first` on, made room for before.
  Rows<const T> rows(ValueId id, Index item, Index head, Index first, int worker) const {
    const Slot& slot = is_only_blocks(id) ? blocks_[static_cast<std::size_t>(worker)][at(id)] : slots_[at(id)];
    assert(slot.data != nullptr);
    if (is_only_blocks(id)) return {slot.data, slot.row};
    if (plan_.value(id).shape.rows == 1) return {slot.data + item * slot.item + head * slot.head, 0};
    return {slot.data + item * slot.item + head * slot.head + first * slot.row, slot.row};
  }

  // The same, `count` rows of them; those of a mask that follows from a rule are made now, and stay until this worker asks
  // for rows of a mask again.
  Rows<const T> rows(ValueId id, Index item, Index head, Index first, Index count, int worker) {
    const std::shared_ptr<const Stored>& mask = slots_[at(id)].by_rows;
    if (!mask) return rows(id, item, head, first, worker);
    const Shape& shape = plan_.value(id).shape;
    const bool one_row = shape.rows == 1;
    std::vector<T>& room = room_[static_cast<std::size_t>(worker)];
    room.resize(static_cast<std::size_t>((one_row ? 1 : count) * shape.cols));
    mask->read_rows((item * shape.heads + head) * shape.rows + (one_row ? 0 : first), one_row ? 1 : count, room.data());
    return {room.data(), one_row ? 0 : shape.cols};
  }

  // The same, to be written; room is made where it is missing.
  Rows<T> rows_to_write(ValueId id, Index item, Index head, Index first, int worker) {
    if (is_only_blocks(id))
      make_room_for_block(id, worker);
    else
      make_room(id);
    const Rows<const T> result = rows(id, item, head, first, worker);
    return {const_cast<T*>(result.data), result.stride};  // make_room() made it, so it is not one of set()'s
  }

  // Rows of a block that was just computed go to the taker, if there is one.
  void hand_over(ValueId id, Index item, Index head, const Part& part) const {
    if (!schedule_.is_taken(id)) return;
    const Rows<const T> block = rows(id, item, head, part.rows.first, part.worker);
    assert(block.stride == plan_.value(id).shape.cols);
    schedule_.taker->take_rows(id, item, head, part.rows.first, part.rows.count(), block.data);
  }

 private:
  struct Slot {
    std::shared_ptr<const void> owner;
    const T* data = nullptr;
    Index item = 0, head = 0, row = 0;      // from one to the next, in numbers
    bool own = false;                       // made here, so that it may be written
    std::shared_ptr<const Tensor> tensor;   // the whole value as it stands, if it is one
    std::shared_ptr<const Stored> by_rows;  // instead of data: a mask whose rows are made when they are needed
  };

  // A mask or a factor of the size of the scores that is only added and multiplied by: it need not stand anywhere as a
  // whole.
  bool is_read_by_rows(ValueId id, const Tensor& value) const {
    const Value::Role role = plan_.value(id).role;
    if (!value.stored() || (role != Value::Role::mask && role != Value::Role::constant)) return false;
    return std::all_of(plan_.steps.begin(), plan_.steps.end(), [&](const Step& step) {
      const bool by_rows = step.op == Op::add || (step.op == Op::multiply && value.shape().cols > 1);
      return by_rows ? step.in.front() != id : std::find(step.in.begin(), step.in.end(), id) == step.in.end();
    });
  }

  // As numbers of this type.
  static std::shared_ptr<const Tensor> rounded(const Tensor& tensor) {
    const Shape& shape = tensor.shape();
    auto result = std::make_shared<Tensor>(shape);
    std::vector<T> row(static_cast<std::size_t>(shape.cols));
    for (Index i = 0; i < shape.size() / shape.cols; ++i) {
      tensor.stored()->read_rows(i, 1, row.data());
      std::copy(row.begin(), row.end(), result->data() + i * shape.cols);
    }
    return result;
  }

  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id); }

  static Slot contiguous(const Shape& shape) {
    Slot slot;
    slot.item = shape.heads * shape.rows * shape.cols;
    slot.head = shape.rows * shape.cols;
    slot.row = shape.cols;
    return slot;
  }

  const Step* merge_of(ValueId id) const {
    for (const Step& step : plan_.steps)
      if (step.op == Op::merge && step.in[0] == id && step.arrangement == Arrangement::side_by_side) return &step;
    return nullptr;
  }

  // As many rows as the longest block has: a worker may meet the last one first.
  void make_room_for_block(ValueId id, int worker) {
    Slot& slot = blocks_[static_cast<std::size_t>(worker)][at(id)];
    if (slot.own) return;
    const Shape& shape = plan_.value(id).shape;
    const Index rows = std::min(schedule_.groups[schedule_.last_use[at(id)]].block_rows, shape.rows);
    const std::shared_ptr<T> numbers = make_buffer<T>(rows * shape.cols);
    slot = contiguous({1, 1, rows, shape.cols});
    slot.data = numbers.get();
    slot.owner = numbers;
    slot.own = true;
  }

  const Plan& plan_;
  const Schedule& schedule_;
  std::vector<Slot> slots_;                // by ValueId
  std::vector<std::vector<Slot>> blocks_;  // by worker and ValueId: what exists only as blocks
  std::vector<std::vector<T>> room_{1};    // by worker: the rows of a mask
};

}  // namespace mha::compute
