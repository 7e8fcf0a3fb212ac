#include <apps/weftd/root_page.hpp>

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <string_view>

#include <apps/weftd/page_text.hpp>
#include <weft/base/format.hpp>
#include <weft/http/negotiation.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/base64.hpp>

namespace weftd {
namespace {

namespace http = weft::http;

constexpr std::string_view fields_for_all = "Vary: Accept\r\nCache-Control: no-cache\r\n";

/// As a policy names a text that it allows (CSP Level 3, section 2.3.1).
std::string source_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  // Where the library has no SHA-256 the tag is that of nothing, the same in each process.
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
  std::string source = "'sha256-";
  weft::store::append_base64({reinterpret_cast<const char*>(hash.data()), size}, source);
  source += '\'';
  return source;
}

std::string make_policy() {
  return weft::format(
      "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; img-src data:; "
      "base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'",
      source_of(page_style), source_of(page_script));
}

std::string make_page() {
  return weft::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>weftd</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n"
      "<body data-version=\"" WEFT_VERSION "\">\n{}<script>{}</script>\n</body>\n</html>\n",
      page_style, page_body, page_script);
}

std::string make_text(const http::request& asked) {
  // The client's own name for this server, so that the lines can be pasted as they stand.
  const std::string where =
      weft::format("{}://{}", asked.scheme(), asked.header("host").value_or("127.0.0.1:8080"));
  return weft::format("weftd " WEFT_VERSION
                      " serves rows of SQL databases. A browser shows them at this address.\n\n"
                      "  curl {0}/0.2.0/schema\n"
                      "  curl {0}/openapi.json\n",
                      where);
}

}  // namespace

root_page::root_page(http::server& http) {
  http.get("/", http::described([this](http::exchange& e) { answer(e); },
                                {.summary = "A page for browsers, and a text for others",
                                 .tags = {"pages"},
                                 .replies = {{http::status::ok, {}, nullptr, "text/plain"},
                                             {http::status::ok, {}, nullptr, "text/html"}}}));
}

/// Made for the first browser: to hash a text sets OpenSSL up, which is two megabytes of memory
/// that most servers never need.
const root_page::made_page& root_page::page() {
  if (!page_)
    page_ = {.text = weft::shared_text{make_page(), &weft::event_loop::current().memory()},
             .fields = weft::format("{}Content-Security-Policy: {}\r\n"
                                    "X-Content-Type-Options: nosniff\r\n"
                                    "Referrer-Policy: no-referrer\r\n",
                                    fields_for_all, make_policy())};
  return *page_;
}

void root_page::answer(http::exchange& e) {
  // Who would take anything is no browser.
  static constexpr std::string_view offers[] = {"text/plain", "text/html"};
  const http::request& asked = e.request();
  const bool is_browser = http::choose_media_type(asked.header("accept"), offers) == 1U;
  if (is_browser)
    return e.reply_shared(http::status::ok, http::text_html.text(), page().text, page().fields);
  e.reply(http::status::ok, http::text_plain.text(), make_text(asked), fields_for_all);
}

}  // namespace weftd
