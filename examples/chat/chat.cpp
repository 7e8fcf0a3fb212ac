// Rooms to talk in, from the browser, over all shards.
//
//   chat                                               then open http://127.0.0.1:8080/?name=ann
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/server.hpp>
#include <weft/http/websocket/topic.hpp>
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

/// Heard on every shard.
struct said {
  std::string room;
  std::string text;
};

/// One a shard, with those who are connected to that; all know what was said last.
class rooms {
 public:
  rooms(http::server& server, weft::event_bus& events) : events_{events} {
    events.on<said>([this](const said& s) {
      if (room* const in = find(s.room)) in->hear(s.text);
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
    void hear(const std::string& text) {
      if (!here.publish_now(text)) return;  // no UTF-8: nobody can be told
      last.push_back(text);
      if (last.size() > 20) last.pop_front();
    }
    http::topic here{{.policy = http::slow_reader::close}};
    std::deque<std::string> last;
  };

  /// nullptr: there are as many as there may be.
  room* find(const std::string& name) {
    if (const auto known = rooms_.find(name); known != rooms_.end()) return &known->second;
    return rooms_.size() < 100 ? &rooms_[name] : nullptr;
  }

  weft::task<void> talk(http::websocket& socket, std::string name, std::string who) {
    room* const in = find(name);
    if (in == nullptr || who.size() > 32) {
      (void)co_await socket.close(http::close_code::try_again_later,
                                  "too many rooms, or too long a name");
      co_return;
    }
    const http::subscription to_room{in->here, socket};
    // So little has room at once, so that what is said from now on comes behind it.
    const std::deque<std::string> before = in->last;
    for (const std::string& each : before)
      if (!co_await socket.send(each)) co_return;
    while (auto message = co_await socket.read()) {
      if (!message->is_text()) {
        (void)co_await socket.close(http::close_code::unsupported_data, "text is spoken here");
        co_return;
      }
      events_.publish(said{name, who + ": " + std::string{message->data}}, weft::to_all_shards);
    }
  }

  weft::event_bus& events_;
  std::map<std::string, room> rooms_;
};

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Rooms to talk in"}};
  http::server_options server;
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<http::server>(server);
  app.add<weft::event_bus>();
  app.add<rooms>();
  return app.run();
}
