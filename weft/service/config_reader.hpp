// Makes given values into options: checks each against the type of its option. Internal to config.
//
// Contract: what is right is written into the options, and where it came from is noted; what is
// wrong is left as it was, and said in one line: where it stands, which option, what is allowed,
// what was given.
//
//   config_report report;
//   read_option(option_type_of<std::string>, &listen, "http.server.listen", value, report);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/base/hash_map.hpp>
#include <weft/service/config_printer.hpp>
#include <weft/service/config_type.hpp>
#include <weft/service/config_value.hpp>

namespace weft::detail {

struct config_report {
  std::vector<std::string> faults;
  /// Path of an option -> where its value came from.
  hash_map<std::string, std::string> origins;
};

/// `path` is the whole name of the option at `object`; `bound`, if it has one, what its struct says
/// of it.
void read_option(const option_type& type, void* object, const std::string& path,
                 const config_value& given, const member_bound* bound, config_report& report);

/// Says which of a table's values that nobody has given are out of their range.
/// `origin_of(path)` is what a fault begins with.
void check_options(const option_type& table, void* object, const std::string& path,
                   option_origin& origin_of, config_report& report);

/// What a table's structs say is wrong with their members, a line each.
void find_faults(const option_type& table, void* object, const std::string& path,
                 option_origin& origin_of, std::vector<std::string>& faults);

/// The member of a table at `path` that is called `name`: reads it, or says that there is none.
/// `others` are further names that would have been right.
void read_member(const option_type& table, void* object, const std::string& path,
                 const config_member& given, std::vector<std::string_view> others,
                 config_report& report);

}  // namespace weft::detail
