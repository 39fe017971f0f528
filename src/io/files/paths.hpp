// Where paths lead: what is there, what a folder holds, and whether writing would destroy what the run reads.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

namespace mha::io {

// What is there, links followed; nothing when nothing is, or when it cannot be reached (errno says why).
std::optional<struct stat> status_of(const std::string& path);

// Where a chain of links ends, also when nothing is there yet (realpath would refuse that).
std::string follow_links(const std::string& path);

std::string folder_of(const std::string& path);

// The names of its ordinary files, or of the folders in it, sorted, but for hidden ones. Throws Error.
std::vector<std::string> files_in(const std::string& folder);
std::vector<std::string> folders_in(const std::string& folder);

// With all folders above it; it may be there already. Throws Error.
void make_folder(const std::string& path);

// Refuses outputs that are one of the inputs ("-" is standard input) or each other, under whatever name or link.
void refuse_overwriting(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

}  // namespace mha::io
