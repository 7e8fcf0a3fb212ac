#include <weft/net/ascii_name.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <weft/base/format.hpp>
#include <weft/base/log_escape.hpp>
#include <weft/net/ip_address.hpp>
#include <weft/net/loaded_library.hpp>

namespace weft::net {
namespace {

constexpr std::size_t name_bytes_most = 253;  // RFC 1035 section 2.3.4, as text
/// What UTS 46 takes for a dot, in UTF-8.
constexpr std::array<std::string_view, 4> dots = {".", "\xe3\x80\x82", "\xef\xbc\x8e",
                                                  "\xef\xbd\xa1"};

using outcome = std::expected<std::string, std::string>;

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// libidn2, of which three functions are used. The number in its file name fixes their interface.
class idn_library {
 public:
  [[nodiscard]] static const idn_library& get() {
    static const idn_library loaded;
    return loaded;
  }
  [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  /// The error is libidn2's.
  [[nodiscard]] outcome spell(std::string_view name) const {
    constexpr int nontransitional = 8;
    constexpr int nfc_input = 1;
    std::uint8_t* spelled = nullptr;
    const std::string terminated{name};
    const int code = lookup_(reinterpret_cast<const std::uint8_t*>(terminated.c_str()), &spelled,
                             nontransitional | nfc_input);
    if (code != 0) return std::unexpected{std::string{describe_(code)}};
    const std::unique_ptr<std::uint8_t, void (*)(void*)> kept{spelled, release_};
    return std::string{reinterpret_cast<const char*>(spelled)};
  }

 private:
  idn_library() noexcept {
    const auto library = loaded_library::load("libidn2.so.0");
    if (!library) {
      fault_ = library.error();
      return;
    }
    lookup_ = library->function<int(const std::uint8_t*, std::uint8_t**, int)>("idn2_lookup_u8");
    describe_ = library->function<const char*(int)>("idn2_strerror");
    release_ = library->function<void(void*)>("idn2_free");
    if (lookup_ == nullptr || describe_ == nullptr || release_ == nullptr)
      fault_ = "it lacks functions of libidn2 2.0";
  }

  int (*lookup_)(const std::uint8_t*, std::uint8_t**, int) = nullptr;
  const char* (*describe_)(int) = nullptr;
  void (*release_)(void*) = nullptr;
  std::string_view fault_;
};

bool may_stand_in_host(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_';
}

/// What is wrong with a name that has been spelled; empty: nothing.
std::string_view fault_of(std::string_view spelled) noexcept {
  if (!std::ranges::all_of(spelled, may_stand_in_host))
    return "it maps to a character that is not allowed in a host";
  if (spelled.empty() || spelled.starts_with('.') || spelled.contains("..")) return "it is empty";
  return {};
}

/// Of a label, or of the whole.
std::string fault_by(const idn_library& library, std::string_view name) {
  const outcome spelled = library.spell(name);
  return spelled ? std::string{fault_of(*spelled)} : spelled.error();
}

/// Takes the first label off.
std::string_view take_label(std::string_view& rest) noexcept {
  std::size_t end = rest.size();
  std::size_t dot_bytes = 0;
  for (const std::string_view dot : dots)
    if (const std::size_t at = rest.find(dot); at < end) {
      end = at;
      dot_bytes = dot.size();
    }
  const std::string_view label = rest.substr(0, end);
  rest.remove_prefix(end + dot_bytes);
  return label;
}

/// Names the first label that is invalid on its own.
std::string describe(const idn_library& library, std::string_view name, std::string_view why) {
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view label = take_label(rest);
    const std::string fault = label.empty() ? "it is empty" : fault_by(library, label);
    if (!fault.empty())
      return weft::format("the label \"{}\" of the host {} is invalid: {}", log::escaped(label),
                          log::escaped(name), fault);
  }
  return weft::format("the host {} is not a valid name: {}", log::escaped(name), why);
}

}  // namespace

outcome ascii_name(std::string_view name) {
  if (is_ascii(name)) return std::string{name};
  const auto refused = [&](std::string_view why) {
    return std::unexpected{weft::format("the host {} {}", log::escaped(name), why)};
  };
  if (name.contains('\0')) return refused("has a NUL");
  const idn_library& library = idn_library::get();
  if (!library.fault().empty())
    return refused(
        weft::format("is not in ASCII, and libidn2, which converts such names, cannot be "
                     "used: {} (Debian package: libidn2-0); write it as xn--...",
                     library.fault()));
  outcome spelled = library.spell(name);
  if (!spelled) return std::unexpected{describe(library, name, spelled.error())};
  if (const std::string_view fault = fault_of(*spelled); !fault.empty())
    return std::unexpected{describe(library, name, fault)};
  if (spelled->size() > name_bytes_most) return refused("is longer than 253 bytes");
  if (ip_address::parse(*spelled))
    return refused(weft::format("maps to the IP address {}: write the address itself", *spelled));
  return spelled;
}

}  // namespace weft::net
