// The options of a program's services, from wherever people set them.
//
// Problem: an option that was mistyped must not be ignored, and whoever runs a program must see
// what it runs with, and why. Contract: options are plain structs (config_type.hpp says of what).
// Each has a section, the service's name. A value is what the struct's default is, unless the
// program said another, unless the file does, unless the environment does, unless the command line
// does. Names that nobody has and values that do not fit are faults, each one line with the place
// and the nearest right name. Read sources and bind sections in any order, then apply() once. One
// thread.
//
//   config given;
//   auto read = given.read_file("weftd.toml");  // [http.server] / listen = ":80"
//   given.bind("http.server", options);
//   for (const std::string& fault : given.apply()) complain(fault);
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/service/config_type.hpp>

namespace weft {

/// The section of a service that has no other name, from its type's: "http.server" for
/// weft::http::server, "shop.store" for shop::store.
[[nodiscard]] std::string section_of(std::string_view type);

/// What becomes of sections that nobody has bound.
enum class unknown_sections : std::uint8_t { refuse, pass_over };

class config {
 public:
  config();
  config(const config&) = delete;
  config& operator=(const config&) = delete;
  ~config();

  /// A TOML file of at most 1 MiB; else what is wrong with it, in one line.
  [[nodiscard]] std::expected<void, std::string> read_file(const std::string& path);
  /// As read_file(), of a text that is in memory; `name` stands for the path.
  [[nodiscard]] std::expected<void, std::string> read_text(std::string_view toml,
                                                           const std::string& name);

  /// The environment, "NAME=value" up to a null pointer. Option `listen` of section `http.server`
  /// is WEFT_HTTP_SERVER_LISTEN; what else begins with WEFT_ and a section's name is a fault.
  void read_environment(const char* const* variables);

  /// One value from the command line: "http.server.listen=:80", a later one before an earlier.
  /// Lists are written "a,b". `where` is how people know it; "--http.server.listen" if empty. False
  /// if `assignment` has no such form.
  [[nodiscard]] bool assign(std::string_view assignment, std::string_view where = {});

  /// `options` are those of `section`, and live until after apply(). What they hold now is what the
  /// program says. Asserts that the section is new.
  template <class Options>
  void bind(std::string section, Options& options) {
    static_assert(std::is_aggregate_v<Options>, "options are a plain struct at namespace scope");
    const Options defaults{};
    bind(std::move(section), detail::option_type_of<Options>, &options, &defaults);
  }

  /// Writes what was read into what was bound, and gives the faults; none: all is well.
  [[nodiscard]] std::vector<std::string> apply(unknown_sections others = unknown_sections::refuse);

  /// What the structs say of their members by `faults()` (option_fault.hpp), which may read files.
  /// After an apply() without a fault, while the options live.
  [[nodiscard]] std::vector<std::string> faults() const;

  /// `section`, or if that is bound, "section_2" and so on.
  [[nodiscard]] std::string unused(std::string section) const;

  /// What bind() was given for `section`; nullptr: nothing.
  [[nodiscard]] const void* find(std::string_view section) const noexcept;

  /// Where the value of the option `path` is from: "weftd.toml:3:8", "WEFT_HTTP_SERVER_LISTEN",
  /// "--http.server.listen", "program" or "default". After apply().
  [[nodiscard]] std::string origin_of(const std::string& path) const;

  /// What all options are now, as a TOML file, each with its origin in a comment. After apply().
  [[nodiscard]] std::string to_toml() const;

 private:
  void bind(std::string section, const detail::option_type& type, void* options,
            const void* defaults);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft
