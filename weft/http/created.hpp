// The reply to a request that has made something: 201, the thing, and where it is.
//
// Contract: a handler returns it, by itself, in a result or in a task. `location` is what the
// Location field says (RFC 9110 section 15.3.2), a path such as "/orders/17"; what must not stand
// in a field is answered with 500 and logged, since it is the program's.
//
//   http.post("/orders", [](new_order o) { return http::created<order>{made, "/orders/17"}; });
#pragma once

#include <string>

namespace weft::http {

class exchange;

template <class T>
struct created {
  T value;
  std::string location;
};

namespace detail {

template <class T>
inline constexpr bool is_created = false;
template <class T>
inline constexpr bool is_created<created<T>> = true;

void reply_created(exchange& e, std::string json_text, const std::string& location);

}  // namespace detail
}  // namespace weft::http
