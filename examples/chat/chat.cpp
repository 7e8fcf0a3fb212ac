// Rooms to talk in, from the browser, over all shards.
//
//   chat                                               then open http://127.0.0.1:8080/?name=ann
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/server.hpp>
#include <weft/http/websocket/topic.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>
#include <weft/service/event_bus.hpp>

namespace http = weft::http;

// What users write is shown as text, never as HTML.
constexpr std::string_view page = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Chat</title>
<ul id="said"></ul>
<form><input id="text" autofocus autocomplete="off"> <button>Say</button></form>
<script>
  const asked = new URLSearchParams(location.search);
  const room = asked.get('room') || 'lobby';
  const name = asked.get('name') || 'somebody';
  const origin = location.origin.replace('http', 'ws');
  const socket = new WebSocket(
      `${origin}/rooms/${encodeURIComponent(room)}?name=${encodeURIComponent(name)}`);
  const show = (text) => {
    const line = document.createElement('li');
    line.textContent = text;
    document.getElementById('said').append(line);
  };
  socket.onopen = () => asked.has('say') && socket.send(asked.get('say'));
  socket.onmessage = (message) => show(message.data);
  socket.onclose = (end) => show(`The end: ${end.code} ${end.reason}`);
  document.forms[0].onsubmit = (event) => {
    event.preventDefault();
    const text = document.getElementById('text');
    socket.send(text.value);
    text.value = '';
  };
</script></html>
)";

struct place {
  std::string room;
};
struct visitor {
  std::string name;
};

constexpr std::size_t rooms_max = 100;
constexpr std::size_t name_bytes_max = 32;
/// Nobody says more than twenty things a second.
constexpr weft::duration breath = std::chrono::milliseconds{50};

/// Heard on every shard.
struct said {
  std::string room;
  std::string text;
};

/// One a shard, with those who are connected to that; all know what was said last. If a shard has
/// as many rooms as it may have, it forgets the one that has been quiet for longest and that nobody
/// connected to it is in.
class rooms {
 public:
  rooms(http::server& server, weft::event_bus& events, weft::event_loop& loop)
      : events_{events}, loop_{loop} {
    events.on<said>([this](const said& s) {
      if (room* const in = find(s.room)) hear(*in, s.text);
    });
    server.get("/",
               [] { return http::response{http::status::ok, http::text_html, std::string{page}}; });
    server.websocket(
        "/rooms/{room}",
        [this](http::websocket& socket, http::path<place> at, http::query<visitor> who) {
          return talk(socket, std::move(at->room), std::move(who->name));
        },
        {.compression = http::websocket_compression::single, .limits = {.message_bytes = 2048}});
  }

 private:
  struct room {
    // Many may speak at once: who reads all of it is not slow.
    http::topic here{{.policy = http::slow_reader::close, .queued_bytes = 256 * 1024}};
    std::deque<std::shared_ptr<const std::string>> last;
    std::uint64_t heard_at = 0;  // of all that was said on this shard, the number
  };

  void hear(room& in, const std::string& text) {
    if (!in.here.publish_now(text)) return;  // no UTF-8: nobody can be told
    in.heard_at = ++said_;
    in.last.push_back(std::make_shared<const std::string>(text));
    if (in.last.size() > 20) in.last.pop_front();
  }

  /// nullptr: there are as many as there may be, and somebody is in each of them.
  room* find(const std::string& name) {
    if (const auto known = rooms_.find(name); known != rooms_.end()) return &known->second;
    if (rooms_.size() == rooms_max && !forget_one()) return nullptr;
    return &rooms_[name];
  }

  bool forget_one() {
    auto quietest = rooms_.end();
    for (auto each = rooms_.begin(); each != rooms_.end(); ++each) {
      if (each->second.here.subscribers() != 0) continue;
      if (quietest == rooms_.end() || each->second.heard_at < quietest->second.heard_at)
        quietest = each;
    }
    if (quietest == rooms_.end()) return false;
    rooms_.erase(quietest);
    return true;
  }

  weft::task<void> talk(http::websocket& socket, std::string name, std::string who) {
    if (name.size() > name_bytes_max || who.size() > name_bytes_max) {
      (void)co_await socket.close(http::close_code::policy_violation,
                                  "a name has at most 32 bytes");
      co_return;
    }
    room* const in = find(name);
    if (in == nullptr) {
      (void)co_await socket.close(http::close_code::try_again_later, "all rooms are in use");
      co_return;
    }
    // From here on the room is not forgotten: somebody is in it.
    const http::subscription to_room{in->here, socket};
    // So little has room at once, so that what is said from now on comes behind it. A visitor who
    // does not read keeps no copies of it.
    const auto before = in->last;
    for (const auto& each : before)
      if (!co_await socket.send(*each)) co_return;
    while (auto message = co_await socket.read()) {
      if (!message->is_text()) {
        (void)co_await socket.close(http::close_code::unsupported_data, "text is spoken here");
        co_return;
      }
      const auto told =
          events_.publish(said{name, who + ": " + std::string{message->data}}, weft::to_all_shards);
      if (!told) {
        (void)co_await socket.close(http::close_code::try_again_later, "too much is said at once");
        co_return;
      }
      if (!co_await weft::sleep_for(loop_, breath)) co_return;
    }
  }

  weft::event_bus& events_;
  weft::event_loop& loop_;
  std::map<std::string, room> rooms_;
  std::uint64_t said_ = 0;
};

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Rooms to talk in"}};
  http::server_options server;
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<http::server>(server);
  app.add<weft::event_bus>({.capacity = 1024, .bound = 1024});
  app.add<rooms>();
  return app.run();
}
