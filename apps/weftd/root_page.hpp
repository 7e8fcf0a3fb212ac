// GET /: a page to look at tables and to try requests, for browsers; a short text for all others.
//
// Contract: one file, with its style and its script, which loads nothing else and asks nobody but
// this server; its policy (Content-Security-Policy) allows no other script than that one. It needs
// no key: what it shows, it asks for with the one that is typed in, which the browser forgets with
// the tab. One a shard.
//
//   app.add<weftd::root_page>();
#pragma once

#include <optional>
#include <string>

#include <weft/loop/shared_text.hpp>

namespace weft::http {
class exchange;
class server;
}  // namespace weft::http

namespace weftd {

class root_page {
 public:
  explicit root_page(weft::http::server& http);

 private:
  struct made_page {
    weft::shared_text text;
    std::string fields;
  };

  void answer(weft::http::exchange& e);
  [[nodiscard]] const made_page& page();

  std::optional<made_page> page_;
};

}  // namespace weftd
