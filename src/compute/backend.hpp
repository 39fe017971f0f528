// What a device must be able to do: take a value, run a step on part of it, give a value back; and a fixed pool of threads
// that share out numbered pieces of work.
#pragma once

#include <functional>

#include "compute/device.hpp"
#include "core/tensor.hpp"

namespace mha::compute {

// What is asked for, and where nothing is asked for (0) one thread for each core.
int thread_count(int asked_for);

// Which worker does which piece is left to chance, so what a piece computes must not depend on it.
class Workers {
 public:
  // The calling thread is one of them; 1 starts no thread at all.
  explicit Workers(int count);
  ~Workers();

  int count() const;

  // task(piece, worker) once for each piece from 0 to pieces − 1, begun in that order; returns when all are done. What a
  // task throws is thrown here, once no other task runs any more.
  using Task = std::function<void(Index piece, int worker)>;
  void each(Index pieces, const Task& task);

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;  // none for a single worker
};

// Half-open.
struct Range {
  Index first = 0;
  Index last = 0;
  Index count() const { return last - first; }
};

// The part of a step's result that is to be computed, or the rows that are to be added to it where it grows, and which of
// several workers is to do it.
struct Part {
  Range batch, heads, rows;
  int worker = 0;
};

// How a plan is walked: which steps go together block by block, and how long each value lives. Made by the engine.
struct Schedule {
  struct Group {
    std::size_t first_step = 0;
    std::size_t last_step = 0;  // half-open; more than one step: taken through together, a block of rows at a time
    Index block_rows = 0;       // 0: whole values
    bool head_by_head = false;  // one worker takes all blocks of a head, in their order: sums over rows grow with them
    bool undivided = false;     // in one piece: the device shares the work out itself
  };
  std::vector<Group> groups;
  std::vector<bool> kept;             // by ValueId: the trace asks for it
  std::vector<bool> only_blocks;      // by ValueId: never stands whole, only block after block, one for each worker
  std::vector<bool> grows;            // by ValueId: a sum over rows, to which each block of rows adds
  std::vector<std::size_t> last_use;  // by ValueId: the last group that reads or makes it
  std::vector<bool> taken;            // by ValueId: its rows go to the taker; empty: none do
  RowTaker* taker = nullptr;

  bool is_taken(ValueId id) const { return taker != nullptr && taken[static_cast<std::size_t>(id)]; }
};

// One backend serves one plan; value ids are its buffer ids. Host values are doubles, the backend's dtype is its own
// affair.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual void set(ValueId id, std::shared_ptr<const Tensor> value) = 0;
  // Makes room for the step's result and brings its operands into the order that the kernels like. Called before several
  // workers run parts of a step at once; who runs a step alone need not call it. False: the result is there already, as a
  // view into other values, so nothing is left to run.
  virtual bool prepare(const Step&, Workers&) { return true; }
  // A taken value that exists only as blocks is handed to the taker here, block by block; whole ones by the engine.
  virtual void run(const Step& step, const Part& part) = 0;
  // Until all that run() was asked for is done; get() waits by itself.
  virtual void wait() {}
  virtual std::shared_ptr<const Tensor> get(ValueId id) = 0;
  // The value is not needed any more.
  virtual void drop(ValueId id) = 0;
};

// With the kernels that suit the size of the plan, or of the whole of which it is a part.
std::unique_ptr<Backend> make_cpu_backend(const Plan& plan, const Schedule& schedule, Dtype dtype,
                                          const Plan* whole = nullptr);

// A backend that keeps all values on the device: groups of the schedule must be single steps on whole values. Operands and
// results as in CpuBackend. Throws Error with Exit::no_device for whatever the device or its driver refuses. What attention
// itself does not need (ops and variants of the simulated mistakes) is refused as well. Without OpenCL's headers the build
// has opencl_missing.cpp in place of the other files of this name.
std::unique_ptr<Backend> make_opencl_backend(const Plan& plan, const Device& device, Dtype dtype);

}  // namespace mha::compute
