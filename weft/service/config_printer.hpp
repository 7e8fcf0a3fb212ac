// Options as the TOML file that would set them. Internal to config.
//
//   option_text(option_type_of<duration>, &timeout);  // "\"10s\""
#pragma once

#include <string>

#include <weft/base/unique_function.hpp>
#include <weft/service/config_type.hpp>

namespace weft::detail {

/// An option that is no table itself.
struct found_option {
  const std::string& path;
  const option_type& type;
  void* object;
  const member_bound* bound;  // nullptr: it has none
};

/// Visits each of a table, and of the tables in it.
using option_visit = unique_function<void(const found_option& each)>;
void visit_options(const option_type& table, void* object, const std::string& path,
                   option_visit& visit);

/// A value as TOML writes it on one line; empty: an optional that has none.
[[nodiscard]] std::string option_text(const option_type& type, const void* object);

/// `origin_of(path)` is what the comment behind an option says.
using option_origin = unique_function<std::string(const std::string& path)>;
void print_section(const option_type& table, void* object, const std::string& path,
                   option_origin& origin_of, std::string& out);

}  // namespace weft::detail
