// libzip, loaded when the first .npz file is met: it brings a cryptography library along, which would double the time that
// `mha run` takes to start.
#pragma once

#include <zip.h>

namespace mha::io {

// The functions that are used, under their own names without "zip_".
struct Libzip {
  decltype(&zip_source_buffer_create) source_buffer_create;
  decltype(&zip_source_free) source_free;
  decltype(&zip_open_from_source) open_from_source;
  decltype(&zip_discard) discard;
  decltype(&zip_get_num_entries) get_num_entries;
  decltype(&zip_stat_index) stat_index;
  decltype(&zip_fopen_index) fopen_index;
  decltype(&zip_fread) fread;
  decltype(&zip_fclose) fclose;
  decltype(&zip_error_init) error_init;
  decltype(&zip_error_fini) error_fini;
  decltype(&zip_error_strerror) error_strerror;
};

// Throws Error where the library is not there.
const Libzip& libzip();

}  // namespace mha::io
