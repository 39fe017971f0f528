// A fixed pool of threads that share out numbered pieces of work.
#pragma once

#include <functional>

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

}  // namespace mha::compute
