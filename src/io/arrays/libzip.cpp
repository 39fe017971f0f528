// libzip, loaded when the first .npz file is met.
#include "io/arrays/libzip.hpp"

#include <dlfcn.h>

#include "core/error.hpp"

namespace mha::io {
namespace {

#ifdef MHA_LIBZIP

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw Error(".npz files need libzip, and the one here is another version: " MHA_LIBZIP);
}

Libzip load() {
  void* const library = dlopen(MHA_LIBZIP, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(".npz files need libzip (" MHA_LIBZIP "), which is not here; install it, or save the arrays as .npy files");
  Libzip zip{};
#define MHA_FIND(function) find(library, "zip_" #function, zip.function)
#else

Libzip load() {
  Libzip zip{};
#define MHA_FIND(function) zip.function = &zip_##function
#endif
  MHA_FIND(source_buffer_create);
  MHA_FIND(source_free);
  MHA_FIND(open_from_source);
  MHA_FIND(discard);
  MHA_FIND(get_num_entries);
  MHA_FIND(stat_index);
  MHA_FIND(fopen_index);
  MHA_FIND(fread);
  MHA_FIND(fclose);
  MHA_FIND(error_init);
  MHA_FIND(error_fini);
  MHA_FIND(error_strerror);
#undef MHA_FIND
  return zip;
}

}  // namespace

const Libzip& libzip() {
  static const Libzip zip = load();
  return zip;
}

}  // namespace mha::io
