// Names of fields in replies that HPACK's static table has (RFC 7541 appendix A).
//
// Contract: internal to http. A pure function. Those of requests alone are left out, and so are
// those that a reply's head has by itself.
//
//   if (const unsigned index = static_name("etag"); index != 0) ...
#pragma once

#include <string_view>

namespace weft::http::http2 {

/// 0: it has not.
[[nodiscard]] constexpr unsigned static_name(std::string_view name) noexcept {
  const auto only = [&](std::string_view other, unsigned index) {
    return name == other ? index : 0;
  };
  switch (name.size()) {
    case 3: return name == "age" ? 21 : only("via", 60);
    case 4:
      if (name == "etag") return 34;
      if (name == "vary") return 59;
      return name == "date" ? 33 : only("link", 45);
    case 5: return only("allow", 22);
    case 6: return only("server", 54);
    case 7: return name == "expires" ? 36 : only("refresh", 52);
    case 8: return only("location", 46);
    case 10: return only("set-cookie", 55);
    case 11: return only("retry-after", 53);
    case 12: return only("content-type", 31);
    case 13:
      if (name == "cache-control") return 24;
      if (name == "accept-ranges") return 18;
      if (name == "last-modified") return 44;
      return only("content-range", 30);
    case 14: return only("content-length", 28);
    case 16: {
      if (name == "content-encoding") return 26;
      if (name == "content-language") return 27;
      if (name == "content-location") return 29;
      return only("www-authenticate", 61);
    }
    case 18: return only("proxy-authenticate", 48);
    case 19: return only("content-disposition", 25);
    case 25: return only("strict-transport-security", 56);
    case 27: return only("access-control-allow-origin", 20);
    default: return 0;
  }
}

}  // namespace weft::http::http2
