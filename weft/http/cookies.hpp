// Cookies: what a request brings and what a reply sets.
//
// Contract: a request's cookies are read where they lie, and only as far as somebody looks; names
// are compared as sent (RFC 6265 section 4.2). A piece that is no `name=value`, or whose name is no
// token or whose value holds what a cookie may not, is passed over: clients send what others have
// set. Quotes are part of a value (RFC 6265bis section 4.1.1). What is set is checked in full,
// since a client drops what breaks a rule without a word: names, values, attributes, sizes, and
// what the prefixes "__Secure-" and "__Host-" promise (RFC 6265bis sections 4.1 and 5.7). Single
// thread.
//
//   auto session = http::find_cookie(r.headers(), "__Host-session");
//
//   std::string room;
//   auto written = http::write_set_cookie({.name = "__Host-session", .value = token, .path = "/",
//                                          .secure = true, .http_only = true}, room);
//   if (written) (void)reply.add_field("Set-Cookie", room);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {

struct cookie {
  std::string_view name;
  std::string_view value;
};

// The cookies of one Cookie field, in order: `for (auto [name, value] : cookies{field})`. Views of
// the field's value.
class cookies {
 public:
  class iterator {
   public:
    // The first of `field`.
    explicit iterator(std::string_view field) noexcept : rest_{field} { ++*this; }
    [[nodiscard]] cookie operator*() const noexcept { return at_; }
    iterator& operator++() noexcept;
    // Whether there is none left: no iterator is compared with anything but the end.
    [[nodiscard]] bool at_end() const noexcept { return at_.name.empty(); }

   private:
    cookie at_;
    std::string_view rest_;
  };
  struct sentinel {};
  friend bool operator==(const iterator& one, sentinel) noexcept { return one.at_end(); }

  explicit cookies(std::string_view field) noexcept : field_{field} {}
  [[nodiscard]] iterator begin() const noexcept { return iterator{field_}; }
  [[nodiscard]] static sentinel end() noexcept { return {}; }

 private:
  std::string_view field_;
};

// The value of the first cookie of that name in all Cookie fields. Where a client has several of
// one name, the first has the longest path (RFC 6265 section 5.4); only a "__Host-" name is sure
// not to have been set by a neighbouring host.
[[nodiscard]] std::optional<std::string_view> find_cookie(const header_list& headers,
                                                          std::string_view name) noexcept;

enum class same_site : std::uint8_t { unset, strict, lax, none };

// A Set-Cookie field's value. Empty texts leave their attribute out.
struct set_cookie {
  std::string_view name;
  std::string_view value{};   // no white space, `"`, `,`, `;` or `\` inside; may be in quotes
  std::string_view domain{};  // a host name; its subdomains get the cookie, too
  std::string_view path{};
  std::optional<std::uint32_t> max_age_seconds{};  // 0: the client is to forget the cookie
  http::same_site same_site = http::same_site::lax;
  bool secure = false;
  bool http_only = false;
  bool partitioned = false;
};

// Why clients would refuse it, as a constant text: "SameSite=None needs Secure". Empty: they would
// not.
[[nodiscard]] std::string_view fault_of(const set_cookie& wanted) noexcept;

// Replaces `out`, and allocates nothing once that is large enough. errc::invalid_argument:
// fault_of() says why, and `out` is as before.
[[nodiscard]] result<> write_set_cookie(const set_cookie& wanted, std::string& out);

}  // namespace weft::http
