// The OpenCL backend: buffers on the device, and one launch of a kernel for each op.

#include <map>

#include "compute/backend.hpp"
#include "compute/floats.hpp"
#include "compute/opencl_program.hpp"

namespace mha::compute {
namespace {

constexpr Index plain_rows = 8, tile = 64, tile_side = 16;  // as in kernels.cl

cl_long4 as_argument(const Shape& shape) {
  return {{shape.batch, shape.heads, shape.rows, shape.cols}};
}

std::size_t blocks(Index count, Index size) {
  return static_cast<std::size_t>((count + size - 1) / size);
}

// How many work-items in each dimension, and how many of them make a group.
struct Grid {
  std::array<std::size_t, 3> items, group;
};

// T is the type of the device's numbers.
template <typename T>
class OpenClBackend : public Backend {
 public:
  OpenClBackend(const Plan& plan, const Session& session, Device::Product product)
      : plan_(plan),
        session_(session),
        memory_(static_cast<Index>(device_number<cl_ulong>(session.device, CL_DEVICE_GLOBAL_MEM_SIZE))),
        buffers_(plan.values.size()) {
    const bool is_cpu = (device_number<cl_device_type>(session.device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    const bool wants_tiles = product == Device::Product::by_type ? !is_cpu : product == Device::Product::tiled;
    tiled_ = session.traits.tiled && wants_tiles;
    cl_int code = CL_SUCCESS;
    queue_ = Queue(opencl()->clCreateCommandQueue(session.context.get(), session.device, 0, &code));
    check_opencl(code, session.name, {"be given work", "接受任务"});
  }

  void set(ValueId id, std::shared_ptr<const Tensor> value) override {
    const Saying task = say({"take {}", "接收 {}"}, plan_.value(id).symbol);
    cl_mem buffer = allocated(id, task);
    const Index count = value->size();
    if constexpr (std::is_same_v<T, double>) {
      write(buffer, value->data(), count, task);
    } else {
      std::vector<T> numbers(static_cast<std::size_t>(count));
      to_floats(*value, plan_.value(id).symbol, numbers.data());
      write(buffer, numbers.data(), count, task);
    }
  }

  std::shared_ptr<const Tensor> get(ValueId id) override {
    assert(buffer_of(id));
    auto tensor = std::make_shared<Tensor>(shape_of(id));
    if constexpr (std::is_same_v<T, double>) {
      read(id, tensor->data(), tensor->size());
    } else {
      std::vector<T> numbers(static_cast<std::size_t>(tensor->size()));
      read(id, numbers.data(), tensor->size());
      std::copy(numbers.begin(), numbers.end(), tensor->data());
    }
    return tensor;
  }

  void wait() override { check_opencl(opencl()->clFinish(queue_.get()), session_.name, task_); }

  // What still computes with it holds on to it.
  void drop(ValueId id) override {
    if (!buffer_of(id)) return;
    used_ -= bytes(shape_of(id));
    buffer_of(id) = Buffer();
  }

  void run(const Step& step, const Part& part) override {
    const Shape& shape = shape_of(step.out);
    assert(part.rows.count() == shape.rows && part.heads.count() == shape.heads && part.batch.count() == shape.batch);
    (void)part;
    task_ = say({"compute {}", "计算 {}"}, name_of(step.id).id);
    allocated(step.out, task_);
    switch (step.op) {
      case Op::product: return product(step);
      case Op::split: return placed(step, "split");
      case Op::rotate: return rotate(step);
      case Op::multiply: return combined("multiply", step.in[0], step.in[1], step.out);
      case Op::softcap:
        return on_each("softcap", shape, arg(step.in[0]), arg(step.out), as_argument(shape), shape_arg(step.in[0]),
                       static_cast<T>(step.cap));
      case Op::add: return add(step);
      case Op::softmax: return softmax(step);
      case Op::merge: return placed(step, "merge");
      case Op::copy: return placed(step, "copy");
      case Op::norm: return norm(step);
      case Op::activation: return activation(step);
      case Op::difference:
        combined("subtract", step.in[0], step.in[1], step.out);
        if (step.in.size() > 2) combined("multiply", step.out, step.in[2], step.out);
        return;
      case Op::slope: return slope(step);
      case Op::norm_slope: return norm_slope(step);
      case Op::sum:  // a work-item for each entry; the last operand is the first one where nothing is multiplied
        return on_each("sum", shape, arg(step.in[0]), arg(step.in.back()), arg(step.out), as_argument(shape),
                       shape_arg(step.in[0]), static_cast<cl_int>(step.in.size() > 1));
      case Op::reshape:
      case Op::pool: return refuse(step);
    }
  }

 private:
  // Most of these belong to simulated mistakes, which are computed on the CPU.
  [[noreturn]] void refuse(const Step& step) const {
    throw Error(say({"{} cannot compute {}: this form of {} is computed on the CPU alone; use --device cpu",
                     "{} 无法计算 {}：这种形式的 {} 只在 CPU 上计算；请用 --device cpu"},
                    session_.name, name_of(step.id).id, info_of(step.op).name),
                Exit::no_device);
  }

  const Shape& shape_of(ValueId id) const { return plan_.value(id).shape; }
  Buffer& buffer_of(ValueId id) { return buffers_[static_cast<std::size_t>(id)]; }
  cl_mem arg(ValueId id) { return buffer_of(id).get(); }
  cl_long4 shape_arg(ValueId id) const { return as_argument(shape_of(id)); }
  static Index bytes(const Shape& shape) { return shape.size() * static_cast<Index>(sizeof(T)); }

  // Some drivers promise more memory than there is and fail much later, so that the sum is held against what there is.
  Buffer new_buffer(const Shape& shape, const Saying& task) {
    cl_int code = bytes(shape) > memory_ - used_ ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
    check_opencl(code, session_.name, task);
    Buffer buffer(opencl()->clCreateBuffer(session_.context.get(), CL_MEM_READ_WRITE,
                                           static_cast<std::size_t>(bytes(shape)), nullptr, &code));
    check_opencl(code, session_.name, task);
    return buffer;
  }

  cl_mem allocated(ValueId id, const Saying& task) {
    Buffer& buffer = buffer_of(id);
    if (!buffer) {
      buffer = new_buffer(shape_of(id), task);
      used_ += bytes(shape_of(id));
    }
    return buffer.get();
  }

  void write(cl_mem buffer, const T* numbers, Index count, const Saying& task) {
    check_opencl(opencl()->clEnqueueWriteBuffer(queue_.get(), buffer, CL_TRUE, 0,
                                                static_cast<std::size_t>(count) * sizeof(T), numbers, 0, nullptr, nullptr),
                 session_.name, task);
  }

  // Waits for all that was to be computed before.
  void read(ValueId id, T* numbers, Index count) {
    check_opencl(opencl()->clEnqueueReadBuffer(queue_.get(), arg(id), CL_TRUE, 0,
                                               static_cast<std::size_t>(count) * sizeof(T), numbers, 0, nullptr, nullptr),
                 session_.name, say({"give back {}", "交回 {}"}, plan_.value(id).symbol));
  }

  Kernel& kernel(const char* name) {
    Kernel& kernel = kernels_[name];
    if (!kernel) {
      cl_int code = CL_SUCCESS;
      kernel = Kernel(opencl()->clCreateKernel(session_.program.get(), name, &code));
      check_opencl(code, session_.name, task_);
    }
    return kernel;
  }

  template <typename... Arguments>
  void launch(const char* name, const Grid& grid, const Arguments&... arguments) {
    cl_kernel k = kernel(name).get();
    cl_uint place = 0;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle is a pointer, and its own size is meant
    (check_opencl(opencl()->clSetKernelArg(k, place++, sizeof(Arguments), &arguments), session_.name, task_), ...);
    check_opencl(opencl()->clEnqueueNDRangeKernel(queue_.get(), k, 3, nullptr, grid.items.data(), grid.group.data(), 0,
                                                  nullptr, nullptr),
                 session_.name, task_);
  }

  // A work-item for each entry of the result, in groups of some columns of some rows: a group costs a CPU a microsecond.
  template <typename... Arguments>
  void on_each(const char* name, const Shape& shape, const Arguments&... arguments) {
    const auto [cols, rows] = session_.traits.block;
    launch(
        name,
        {{blocks(shape.cols, cols) * static_cast<std::size_t>(cols),
          blocks(shape.rows, rows) * static_cast<std::size_t>(rows), static_cast<std::size_t>(shape.batch * shape.heads)},
         {static_cast<std::size_t>(cols), static_cast<std::size_t>(rows), 1}},
        arguments...);
  }

  // One operand's numbers in other places.
  void placed(const Step& step, const char* name) {
    if (step.arrangement != Arrangement::side_by_side) refuse(step);
    on_each(name, shape_of(step.out), arg(step.in[0]), arg(step.out), shape_arg(step.out), shape_arg(step.in[0]));
  }

  void combined(const char* name, ValueId a, ValueId b, ValueId out) {
    on_each(name, shape_of(out), arg(a), arg(b), arg(out), shape_arg(out), shape_arg(a), shape_arg(b));
  }

  void add(const Step& step) {
    combined("add", step.in[0], step.in[1], step.out);
    for (std::size_t term = 2; term < step.in.size(); ++term) combined("add", step.out, step.in[term], step.out);
  }

  void rotate(const Step& step) {
    const Shape& shape = shape_of(step.out);
    on_each("rotate_pairs", shape, arg(step.in[0]), arg(step.in[1]), arg(step.in[2]), arg(step.out), as_argument(shape),
            shape_arg(step.in[0]), shape_arg(step.in[1]), static_cast<cl_int>(step.pairing == Pairing::interleaved),
            static_cast<T>(step.transposed ? -1 : 1));
  }

  void softmax(const Step& step) {
    if (!(step.softmax == Softmax{})) refuse(step);
    const Shape& shape = shape_of(step.out);
    const auto rows = static_cast<std::size_t>(shape.batch * shape.heads * shape.rows);
    const auto group = static_cast<std::size_t>(session_.traits.group);
    launch("softmax", {{rows * group, 1, 1}, {group, 1, 1}}, arg(step.in[0]), arg(step.out), as_argument(shape),
           shape_arg(step.in[0]));
  }

  // A work-item for each row; then γ and β.
  void norm(const Step& step) {
    if (step.norm.by_column) refuse(step);
    const Shape& shape = shape_of(step.out);
    const auto flag = [](bool set) { return static_cast<cl_int>(set); };
    on_each("norm", {shape.batch, shape.heads, shape.rows, 1}, arg(step.in[0]), arg(step.out), as_argument(shape),
            shape_arg(step.in[0]), static_cast<T>(step.norm.eps), flag(step.norm.kind == Norm::Kind::layer),
            flag(step.norm.sample_variance), flag(step.norm.eps_outside));
    if (step.in.size() > 1) combined("multiply", step.out, step.in[1], step.out);
    if (step.in.size() > 2) combined("add", step.out, step.in[2], step.out);
  }

  void activation(const Step& step) {
    const Shape& shape = shape_of(step.out);
    on_each("activation", shape, arg(step.in[0]), arg(step.out), as_argument(shape), shape_arg(step.in[0]),
            static_cast<cl_int>(step.activation));
    if (step.in.size() > 1) combined("multiply", step.out, step.in[1], step.out);
  }

  void slope(const Step& step) {
    const Shape& shape = shape_of(step.out);
    on_each("slope", shape, arg(step.in[0]), arg(step.in[1]), arg(step.out), as_argument(shape), shape_arg(step.in[0]),
            shape_arg(step.in[1]), static_cast<cl_int>(step.activation), static_cast<T>(step.cap));
    if (step.in.size() > 2) combined("multiply", step.out, step.in[2], step.out);
  }

  // A work-item for each row of a ∘ γ, which goes to where the result will stand.
  void norm_slope(const Step& step) {
    const Shape& shape = shape_of(step.out);
    const bool scaled = step.in.size() > 2;
    if (scaled) combined("multiply", step.in[0], step.in[2], step.out);
    on_each("norm_slope", {shape.batch, shape.heads, shape.rows, 1}, arg(scaled ? step.out : step.in[0]), arg(step.in[1]),
            arg(step.out), as_argument(shape), shape_arg(step.in[0]), shape_arg(step.in[1]), static_cast<T>(step.norm.eps),
            static_cast<cl_int>(step.norm.kind == Norm::Kind::layer));
  }

  // a·b, and then a bias on each row.
  void product(const Step& step) {
    const Shape &a = shape_of(step.in[0]), &b = shape_of(step.in[1]);
    const cl_long2 a_step = step.first_transposed ? cl_long2{{1, a.cols}} : cl_long2{{a.cols, 1}};
    const cl_long inner = step.first_transposed ? a.rows : a.cols;
    if (tiled_) {
      const cl_long2 b_step = step.transposed ? cl_long2{{1, b.cols}} : cl_long2{{b.cols, 1}};
      tiled_product(step, arg(step.in[1]), b, a_step, b_step, inner);
    } else if (step.transposed) {
      const Shape turned{b.batch, b.heads, b.cols, b.rows};
      const Buffer scratch = new_buffer(turned, task_);
      on_each("transpose", turned, arg(step.in[1]), scratch.get(), as_argument(b));
      plain_product(step, scratch.get(), turned, a_step, inner);
    } else {
      plain_product(step, arg(step.in[1]), b, a_step, inner);
    }
    for (std::size_t term = 2; term < step.in.size(); ++term) combined("add", step.out, step.in[term], step.out);
  }

  void plain_product(const Step& step, cl_mem b, const Shape& b_shape, cl_long2 a_step, cl_long inner) {
    const Shape& shape = shape_of(step.out);
    const Grid grid{{blocks(shape.rows, plain_rows), blocks(shape.cols, session_.traits.width),
                     static_cast<std::size_t>(shape.batch * shape.heads)},
                    {1, 1, 1}};
    launch("product_plain", grid, arg(step.in[0]), b, arg(step.out), as_argument(shape), shape_arg(step.in[0]),
           as_argument(b_shape), a_step, cl_long2{{b_shape.cols, 1}}, inner);
  }

  void tiled_product(const Step& step, cl_mem b, const Shape& b_shape, cl_long2 a_step, cl_long2 b_step, cl_long inner) {
    const Shape& shape = shape_of(step.out);
    const Grid grid{{blocks(shape.cols, tile) * tile_side, blocks(shape.rows, tile) * tile_side,
                     static_cast<std::size_t>(shape.batch * shape.heads)},
                    {tile_side, tile_side, 1}};
    launch("product_tiled", grid, arg(step.in[0]), b, arg(step.out), as_argument(shape), shape_arg(step.in[0]),
           as_argument(b_shape), a_step, b_step, inner);
  }

  const Plan& plan_;
  const Session& session_;
  Index memory_, used_ = 0;  // bytes on the device
  bool tiled_ = false;
  Saying task_;  // what is done at the moment, for messages
  Queue queue_;
  std::map<std::string_view, Kernel> kernels_;
  std::vector<Buffer> buffers_;
};

}  // namespace

std::unique_ptr<Backend> make_opencl_backend(const Plan& plan, const Device& device, Dtype dtype) {
  const Session& session = session_on(device, dtype);
  if (dtype == Dtype::f32) return std::make_unique<OpenClBackend<float>>(plan, session, device.product);
  return std::make_unique<OpenClBackend<double>>(plan, session, device.product);
}

}  // namespace mha::compute
