// A file of the cache: a line that says what it is, the checksum of all that follows, the key, the binary.
#include "compute/opencl_program.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace mha::compute {
namespace {

constexpr std::string_view first_line = "mha OpenCL program 1\n";

// "KEY-BYTES BINARY-BYTES\n", the key, the binary: what the checksum covers.
std::string content_of(std::string_view key, std::string_view binary) {
  return fmt::format("{} {}\n{}{}", key.size(), binary.size(), key, binary);
}

std::string header_of(std::string_view content) {
  return fmt::format("{}{:016x}\n", first_line, checksum(content));
}

// Empty where there is none, or something that is no ordinary file.
std::string whole_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  return std::move(bytes).str();
}

}  // namespace

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

ProgramCache::ProgramCache(std::string folder, std::string key) : folder_(std::move(folder)), key_(std::move(key)) {}

std::string ProgramCache::path() const {
  return fmt::format("{}/opencl-{:016x}.bin", folder_, checksum(key_));
}

std::optional<std::string> ProgramCache::find() const {
  if (folder_.empty()) return std::nullopt;
  const std::string file = whole_file(path());
  const std::size_t header_size = header_of("").size();
  if (file.size() < header_size) return std::nullopt;
  const std::string_view content = std::string_view(file).substr(header_size);
  if (std::string_view(file).substr(0, header_size) != header_of(content)) return std::nullopt;
  // The content is as it was written, so its sizes are true; the key may still be another one with the same hash.
  const std::size_t sizes_end = content.find('\n') + 1;
  const std::string_view after_sizes = content.substr(sizes_end);
  if (!after_sizes.starts_with(key_)) return std::nullopt;
  const std::string_view binary = after_sizes.substr(key_.size());
  if (content_of(key_, binary) != content) return std::nullopt;
  return std::string(binary);
}

void ProgramCache::keep(std::string_view binary) const {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const std::string temporary = fmt::format("{}.{}", path(), getpid());
  std::ofstream file(temporary, std::ios::binary);
  const std::string content = content_of(key_, binary);
  file << header_of(content) << content;
  file.close();
  if (file) std::filesystem::rename(temporary, path(), error);
  if (!file || error) std::filesystem::remove(temporary, error);
}

}  // namespace mha::compute
