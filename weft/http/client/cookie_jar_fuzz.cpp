// Set-Cookie values, one per line, each from one of a few URLs: limits hold, no control character
// gets into a request, and no cookie is sent to a host that its server may not name.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/client/cookie_jar.hpp>
#include <weft/http/scan.hpp>

namespace {

using namespace std::string_view_literals;

constexpr std::array urls = {"http://a.test/"sv, "https://www.a.test/x/y?z"sv, "http://b.test/x"sv,
                             "https://127.0.0.1/"sv};

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::int64_t now = 1'700'000'000;
  weft::http::cookie_jar jar{[&] { return now; },
                             {.cookies = 6, .cookies_per_domain = 3, .bytes = 8 * 1024}};
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty()) continue;
    const std::string_view from = urls[static_cast<unsigned char>(line[0]) % urls.size()];
    if (jar.set(from, line.substr(1))) ++now;
    std::size_t bytes = 0;
    for (const weft::http::kept_cookie& each : jar.all()) {
      bytes += each.name.size() + each.value.size() + each.domain.size() + each.path.size();
      check(each.path.starts_with('/') && !each.name.contains('=') && !each.name.contains(';'));
      check(each.domain == "a.test" || each.domain == "www.a.test" || each.domain == "b.test" ||
            each.domain == "127.0.0.1");
    }
    check(jar.size() <= 6 && bytes <= 8 * 1024);
    for (const std::string_view to : urls) {
      const std::string sent = jar.header_for(to);
      check(weft::http::scan::consists_of<weft::http::scan::set::field>(sent));
    }
    check(jar.header_for("http://test/").empty() && jar.header_for("http://c.test/").empty());
  }
  return 0;
}
