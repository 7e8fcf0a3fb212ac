// A client over HTTP/2 against a server that says frame by frame what it is told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <weft/http/http2/http2_peer_test.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {

/// Answers all requests of a connection with "ok".
inline task<void> answer_all(testing::http2_peer& to) {
  while (const unsigned stream = co_await to.next_request()) co_await to.answer(stream, "ok");
}

class client_over_http2 : public testing::client_fixture {
 protected:
  static client_options always(client_options options = {}) {
    options.http2 = client_http2::always;
    return options;
  }

  /// `plays` speaks on each connection, by its number.
  template <class P, class F>
  void run_over_http2(P plays, client_options options, F body) {
    run_against(
        [plays](unsigned number, peer& on) -> task<void> {
          testing::http2_peer to{on};
          co_await plays(number, to);
        },
        always(std::move(options)), std::move(body));
  }

  task<void> ask_into(client& asking, std::string at, std::vector<std::string>& order) {
    const auto answer = co_await asking.get(at);
    order.push_back(answer ? std::string{answer->body()} : answer.error().message());
  }
};

}  // namespace weft::http
