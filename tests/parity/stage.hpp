// Where a parity script is played: its actors on one loop, with what each holds.
//
// Contract: play() takes all steps, in order, and gives what each showed; it ends what is left
// waiting. A step that does not end within ten seconds of the loop's time is given up, and shows
// timed_out. An actor has one thing of each sort, and one step that is left waiting, at most. What
// is shown is the API's: `ok`, the bytes, or the name of an errc; addresses and system errors'
// numbers are not. Files are made in `folder`. The verbs:
//
//   listen [line]       connect WHO       accept WHO        streams, over the stage's transport
//   write TEXT          write-many N      write-until-failed
//   read N              read-many N       read-all          as many bytes, if they come
//   has-input           shutdown          close             has-input waits for it
//   bind                join WHO          send WHO TEXT     receive        datagrams, one by one
//   open ACCESS NAME    write-at N TEXT   read-at N COUNT   size  sync  close-file
//   sleep N             sleepers N N...                     milliseconds; sleepers begin at once, and
//                                                           it shows in which order they end
//   drop                                                    lets go of all the actor holds
//   stop                ended             ended-or-read N   is-waiting     of the step left waiting
//
//   stage here{loop, transport::tcp, folder};
//   for (const shown& each : co_await here.play(script.steps)) ...
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/file.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/net/udp_socket.hpp>

#include "script.hpp"

namespace weft::parity {

/// A step, and what the API showed.
struct shown {
  const step* what = nullptr;
  std::string answer;
};

class stage {
 public:
  stage(event_loop& loop, transport over, std::string folder);
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// `steps` outlive the play.
  [[nodiscard]] task<std::vector<shown>> play(const std::vector<step>& steps);

 private:
  struct actor {
    std::optional<net::tcp_listener> listener;
    std::optional<net::tcp_stream> stream;
    std::optional<net::udp_socket> socket;
    std::deque<std::string> datagrams;  // that came together with others
    std::optional<file> data;
    std::unique_ptr<scope> waiting;
    std::string ended;  // how `waiting` did
  };
  using act = task<std::string> (stage::*)(actor&, const step&);
  struct verb {
    std::string_view name;
    act does;
  };

  [[nodiscard]] static act find(std::string_view name) noexcept;
  [[nodiscard]] task<std::string> perform(actor& who, const step& what);
  [[nodiscard]] task<void> leave_waiting(actor& who, const step& what);
  [[nodiscard]] task<void> keep_answer(actor& who, const step& what);
  [[nodiscard]] task<void> clear();
  [[nodiscard]] task<void> settle();

  task<std::string> listen(actor& who, const step& what);
  task<std::string> connect(actor& who, const step& what);
  task<std::string> accept(actor& who, const step& what);
  task<std::string> write(actor& who, const step& what);
  task<std::string> write_many(actor& who, const step& what);
  task<std::string> write_until_failed(actor& who, const step& what);
  task<std::string> read(actor& who, const step& what);
  task<std::string> read_many(actor& who, const step& what);
  task<std::string> read_all(actor& who, const step& what);
  task<std::string> has_input(actor& who, const step& what);
  task<std::string> shut_down(actor& who, const step& what);
  task<std::string> close(actor& who, const step& what);
  task<std::string> drop(actor& who, const step& what);
  task<std::string> bind(actor& who, const step& what);
  task<std::string> join(actor& who, const step& what);
  task<std::string> send(actor& who, const step& what);
  task<std::string> receive(actor& who, const step& what);
  task<std::string> open(actor& who, const step& what);
  task<std::string> write_at(actor& who, const step& what);
  task<std::string> read_at(actor& who, const step& what);
  task<std::string> size(actor& who, const step& what);
  task<std::string> sync(actor& who, const step& what);
  task<std::string> close_file(actor& who, const step& what);
  task<std::string> sleep(actor& who, const step& what);
  task<std::string> sleepers(actor& who, const step& what);
  task<std::string> stop(actor& who, const step& what);
  task<std::string> ended(actor& who, const step& what);
  task<std::string> ended_or_read(actor& who, const step& what);
  task<std::string> is_waiting(actor& who, const step& what);

  event_loop& loop_;
  transport over_;
  std::string folder_;
  std::map<std::string, actor, std::less<>> actors_;
  /// Where actors listen; kept when they no longer do.
  std::map<std::string, net::endpoint, std::less<>> addresses_;
};

}  // namespace weft::parity
