#include <weft/http/client/public_suffix.hpp>

#include <string>

#include <weft/net/loaded_library.hpp>

namespace weft::http {
namespace {

/// libpsl, of which two functions are used. The number in its file name fixes their interface.
class suffix_library {
 public:
  [[nodiscard]] static const suffix_library& get() {
    static const suffix_library loaded;
    return loaded;
  }
  [[nodiscard]] bool is_there() const noexcept { return list_ != nullptr; }
  [[nodiscard]] bool has(std::string_view name) const {
    return is_public_suffix_(list_, std::string{name}.c_str()) != 0;
  }

 private:
  suffix_library() noexcept {
    const auto library = net::loaded_library::load("libpsl.so.5");
    if (!library) return;
    // The newer of the system's list and that which is within the library; kept as long as it is.
    auto* const latest = library->function<void*(const char*)>("psl_latest");
    is_public_suffix_ = library->function<int(const void*, const char*)>("psl_is_public_suffix");
    if (latest != nullptr && is_public_suffix_ != nullptr) list_ = latest(nullptr);
  }

  const void* list_ = nullptr;
  int (*is_public_suffix_)(const void*, const char*) = nullptr;
};

}  // namespace

bool is_public_suffix(std::string_view name) {
  const suffix_library& library = suffix_library::get();
  return library.is_there() ? library.has(name) : !name.contains('.');
}

bool knows_public_suffixes() { return suffix_library::get().is_there(); }

}  // namespace weft::http
