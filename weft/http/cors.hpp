// Which other sites' scripts may read our replies (Fetch Standard section 3.2, "CORS protocol").
//
// Problem: one wrong header lets any page read what a user is logged in to. Contract: make() checks
// the policy once; decide() then only compares. Origins are compared whole, byte by byte: no
// prefix, suffix or pattern, which have let "https://example.com.evil.net" in elsewhere. Refused:
// "*" with credentials, "null" (any sandboxed frame has that origin), an origin with a path or in
// capitals, which no browser sends. A denied origin gets no header but Vary; answer its preflight
// with 204, too, and other requests as ever: the browser hides the reply, and who is no browser was
// never stopped by CORS. Views of the policy and the request; decide() allocates nothing, and may
// be called by many threads. What the server replies itself, before any handler is asked (408, 413,
// 431, 503), has the fields as well, for a policy that is given to wrap_all() or wrap() as it is.
//
//   auto rules = http::cors::make({.origins = {"https://app.example"}, .methods = {method::put}});
//   http.wrap_all(*rules);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/method.hpp>

namespace weft::http {

struct cors_policy {
  std::vector<std::string> origins{};          // "https://app.example:8443", or "*" alone
  std::vector<method> methods{};               // besides GET, HEAD and POST, which need no leave
  std::vector<std::string> request_headers{};  // besides those that need no leave
  std::vector<std::string> exposed_headers{};  // that scripts may read, besides the usual ones
  bool credentials = false;                    // cookies and the like
  std::uint32_t max_age_seconds = 600;         // how long a preflight's answer is good
};

enum class cors_kind : std::uint8_t {
  none,       // no Origin: not for us to judge
  actual,     // a request from an allowed origin
  preflight,  // the question before one: answer 204
  denied,     // another origin, or more than one
};

class cors_decision {
 public:
  [[nodiscard]] cors_kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_preflight() const noexcept { return is_preflight_; }
  // To be added to the reply.
  [[nodiscard]] std::span<const header> fields() const noexcept {
    return std::span{fields_}.first(count_);
  }

 private:
  friend class cors;
  void add(std::string_view name, std::string_view value) noexcept {
    if (!value.empty()) fields_[count_++] = {name, value};
  }

  std::array<header, 6> fields_;
  std::size_t count_ = 0;
  cors_kind kind_ = cors_kind::none;
  bool is_preflight_ = false;
};

// What of a request the answer depends on.
struct cors_question {
  std::size_t origins = 0;    // Origin fields
  std::string_view origin{};  // the first of them
  bool is_preflight = false;

  [[nodiscard]] static cors_question of(method asked, const header_list& headers) noexcept;
  // Of a head as far as it has come: of its whole lines.
  [[nodiscard]] static cors_question of_part(std::string_view head) noexcept;
};

class cors {
 public:
  // errc::invalid_argument: fault_of() says why.
  [[nodiscard]] static result<cors> make(cors_policy policy);
  // What is wrong with a policy, as a constant text; empty: nothing.
  [[nodiscard]] static std::string_view fault_of(const cors_policy& policy) noexcept;

  // As a middleware around a server or a group: answers preflights with 204, adds the fields to
  // other replies. Around a server it answers for paths without a route for OPTIONS, too.
  void operator()(exchange& e, handler& next) const;

  [[nodiscard]] cors_decision decide(method asked, const header_list& headers) const noexcept {
    return decide(cors_question::of(asked, headers));
  }
  [[nodiscard]] cors_decision decide(const cors_question& asked) const noexcept;
  // What is decided, as the lines of fields.
  void append_fields(const cors_question& asked, std::string& lines) const;

 private:
  explicit cors(cors_policy policy);
  [[nodiscard]] bool allows(std::string_view origin) const noexcept;

  cors_policy policy_;
  bool any_origin_;
  std::string methods_;  // the values of the reply's fields
  std::string request_headers_;
  std::string exposed_headers_;
  std::string max_age_;
};

}  // namespace weft::http
