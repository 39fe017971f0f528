// Makes folders, and says why where the file system says no.
#include "io/files/output_folder.hpp"

#include <filesystem>
#include <system_error>

#include "core/error.hpp"

namespace mha::io {

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path))
    throw Error(
        "could not make the folder " + path + ": " + (error ? error.message() : "a file has this name") + "; name another",
        Exit::no_output);
}

}  // namespace mha::io
