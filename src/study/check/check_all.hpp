// Many answers at once, on several threads.
#pragma once

#include <functional>

#include "io/files/answer_files.hpp"
#include "study/check/check.hpp"

namespace mha::study {

// Reads and checks each; one that cannot be read gets a report that says why. The reports are in the order of the answers.
// `progress` is called in this thread, now and then, with how many are done.
std::vector<Report> check_all(const Checker& checker, const std::vector<io::AnswerSource>& answers, std::size_t threads,
                              const std::function<void(std::size_t done)>& progress);

}  // namespace mha::study
