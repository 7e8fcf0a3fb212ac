// Names of hosts as the DNS has them: "xn--bcher-kva.example" for "bücher.example".
//
// Problem: users write names in their own script, but the DNS, servers and certificates use the
// ASCII form. Contract: UTS 46, non-transitional ("faß" keeps its ß), with the checks of IDNA 2008,
// by libidn2, which is loaded with the first name that is not in ASCII (Debian: libidn2-0). A name
// in ASCII is returned unchanged. A name that maps to an IP address, or to a character that is not
// allowed in a host, is an error. Any thread.
//
//   auto name = net::ascii_name("bücher.example");   // "xn--bcher-kva.example"
//   if (!name) log::warning(name.error());
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace weft::net {

/// `name` is UTF-8. The error is a clause for people, and names the label.
[[nodiscard]] std::expected<std::string, std::string> ascii_name(std::string_view name);

}  // namespace weft::net
