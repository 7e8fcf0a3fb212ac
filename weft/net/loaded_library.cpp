#include <weft/net/loaded_library.hpp>

#include <dlfcn.h>
#include <link.h>

namespace weft::net {
namespace {

enum answer : int { has_loader = 1, has_none };

/// Of the program itself, which comes first.
int look_for_loader(dl_phdr_info* program, std::size_t, void*) noexcept {
  for (std::size_t i = 0; i != program->dlpi_phnum; ++i)
    if (program->dlpi_phdr[i].p_type == PT_INTERP) return has_loader;
  return has_none;
}

}  // namespace

std::expected<loaded_library, std::string_view> loaded_library::load(const char* file) noexcept {
  if (::dl_iterate_phdr(&look_for_loader, nullptr) != has_loader)
    return std::unexpected{"a program that is linked with -static cannot load it"};
  void* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::unexpected{"it is not installed"};
  return loaded_library{handle};
}

void* loaded_library::address_of(const char* name) const noexcept { return ::dlsym(handle_, name); }

}  // namespace weft::net
