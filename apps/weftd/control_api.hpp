// What the server's user alone may ask of it, by a Unix socket.
//
// Contract: listens at options.socket, or in the folder of the databases, as a socket that its
// user alone may connect to (mode 0600); one connection at a time, each with one request
// (control_message.hpp), which has to come within ten seconds. Where the socket cannot be made, as
// in a folder that another server has, the log says so, and the server goes on without. One a
// program.
//
//   app.add<weftd::control_api>().single();
#pragma once

#include <optional>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/net/address_claim.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/service/needs.hpp>

namespace weft {
class event_loop;
}

namespace weft::store {
class file_swapper;
}

namespace weftd {

struct control_options {
  /// Its path; empty: `.weftd.sock` in the folder of the databases; "none": there is none.
  std::string socket{};
};

class control_api {
 public:
  using options = control_options;

  control_api(control_options options, weft::maybe<weft::store::file_swapper> files,
              weft::event_loop& loop, weft::lifetime& own)
      : options_{std::move(options)}, files_{files}, loop_{loop}, own_{own} {}

  [[nodiscard]] weft::task<weft::result<void>> start();

 private:
  [[nodiscard]] weft::task<void> serve();
  [[nodiscard]] weft::task<void> answer(weft::net::tcp_stream stream);
  [[nodiscard]] weft::task<std::string> reply_to(std::string line);

  control_options options_;
  weft::maybe<weft::store::file_swapper> files_;
  weft::event_loop& loop_;
  weft::lifetime& own_;
  std::optional<weft::net::address_claim> claim_;
  std::optional<weft::net::tcp_listener> listener_;
};

}  // namespace weftd
