#include <array>
#include <charconv>
#include <chrono>
#include <deque>
#include <optional>

#include <weft/base/format.hpp>
#include <weft/coro/scope.hpp>

#include "reply_reader.hpp"
#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

struct question {
  std::string text;
  int status = 200;
  std::optional<std::string> body;  // none: any
  bool to_head = false;
  bool is_slow = false;      // its handler takes its time
  bool is_streamed = false;  // and may be stopped after its reply has begun
  bool is_gathered = false;  // its handler is called when all of its body has come
};

std::string draw_body(random& dice, std::uint64_t id) {
  const std::size_t most = dice.chance(1, 16) ? 40'000 : 600;
  return pattern(id, dice.between<std::size_t>(1, most));
}

std::string chunked(random& dice, std::string_view body) {
  std::string text;
  while (!body.empty()) {
    const std::size_t size = dice.between<std::size_t>(1, body.size());
    std::array<char, 17> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
    text.append(digits.data(), end).append("\r\n").append(body.substr(0, size)).append("\r\n");
    body.remove_prefix(size);
  }
  return text + "0\r\n\r\n";
}

/// A form of some parts, in which `content` stands.
std::string form_of(random& dice, std::string_view content) {
  std::string text;
  while (!content.empty()) {
    const std::size_t size = dice.between<std::size_t>(1, content.size());
    text.append("--between\r\nContent-Disposition: form-data; name=\"part\"\r\n\r\n")
        .append(content.substr(0, size))
        .append("\r\n");
    content.remove_prefix(size);
  }
  return text + "--between--\r\n";
}

/// For whom a connection, or a request, speaks.
std::string claimed_address(std::uint64_t id) { return weft::format("192.0.2.{}", id % 255 + 1); }

question draw_question(scene& scene, bool is_last, std::string_view speaks_for) {
  random& dice = scene.world.dice();
  const std::uint64_t id = ++scene.last_id;
  const std::string number = std::to_string(id);
  question q;
  std::string fields = "Host: server\r\n";
  std::string body;
  if (is_last) fields += "Connection: close\r\n";
  if (scene.before_server == go_between::balancer)
    fields += weft::format("X-Client: {}\r\nForwarded: for=9.9.9.9\r\n", speaks_for);
  if (scene.before_server == go_between::proxy)
    fields +=
        weft::format("X-Client: {0}\r\nForwarded: for=9.9.9.9, for={0}\r\n", claimed_address(id));
  switch (dice.below(11)) {
    case 0: {
      body = draw_body(dice, id);
      q.body = body;
      q.is_gathered = true;
      q.text = "POST /echo/" + number;
      fields += "Content-Length: " + std::to_string(body.size()) + "\r\n";
      if (dice.chance(1, 8)) fields += "Expect: 100-continue\r\n";
      break;
    }
    case 1: {
      q.body = draw_body(dice, id);
      body = chunked(dice, *q.body);
      q.is_gathered = true;
      q.text = "POST /echo/" + number;
      fields += "Transfer-Encoding: chunked\r\n";
      break;
    }
    case 8: {
      const bool is_wanted = dice.chance(3, 4);
      const bool is_chunked = dice.chance(1, 2);
      const std::string content = draw_body(dice, id);
      q.body = is_wanted ? content : pattern(id, 100);
      q.is_slow = q.is_streamed = is_wanted;
      q.text = (is_wanted ? "POST /relay/" : "POST /ignore/") + number;
      body = is_chunked ? chunked(dice, content) : content;
      fields += is_chunked ? "Transfer-Encoding: chunked\r\n"
                           : "Content-Length: " + std::to_string(content.size()) + "\r\n";
      if (is_wanted && dice.chance(1, 4)) fields += "Expect: 100-continue\r\n";
      break;
    }
    case 10: {
      q.body = draw_body(dice, id);
      q.is_slow = true;
      q.text = "POST /form/" + number;
      const std::string form = form_of(dice, *q.body);
      const bool is_chunked = dice.chance(1, 2);
      body = is_chunked ? chunked(dice, form) : form;
      fields += "Content-Type: multipart/form-data; boundary=between\r\n";
      fields += is_chunked ? "Transfer-Encoding: chunked\r\n"
                           : "Content-Length: " + std::to_string(form.size()) + "\r\n";
      break;
    }
    case 9: {
      const std::size_t size = dice.chance(1, 8) ? dice.below(300'000) : dice.below(3'000);
      q.body = pattern(id, size);
      q.is_slow = q.is_streamed = true;
      q.to_head = dice.chance(1, 8);
      q.text = (q.to_head ? "HEAD /pour/" : "GET /pour/") + number + "/" + std::to_string(size);
      break;
    }
    case 2:
    case 3: {
      const std::size_t size = dice.below(2'000);
      q.body = pattern(id, size);
      q.is_slow = true;
      q.text = dice.chance(1, 2) ? "GET /sleep/" : "GET /elsewhere/";
      q.text += number + "/" + std::to_string(size);
      break;
    }
    case 4: {
      const bool is_late = dice.chance(1, 2);
      q.status = 500;
      q.is_slow = is_late;
      q.text = (is_late ? "GET /throw-late/" : "GET /throw/") + number;
      break;
    }
    case 5: {
      q.status = 404;
      q.text = "GET /nowhere/" + number;
      break;
    }
    default: {
      const std::size_t size = dice.chance(1, 16) ? dice.below(100'000) : dice.below(300);
      q.body = pattern(id, size);
      q.to_head = dice.chance(1, 8);
      q.text = (q.to_head ? "HEAD /text/" : "GET /text/") + number + "/" + std::to_string(size);
    }
  }
  q.text += " HTTP/1.1\r\n" + fields + "\r\n" + body;
  return q;
}

/// One connection: what it has asked, and is owed.
class client {
 public:
  client(scene& scene, testing::sim_shard& shard, net::tcp_stream stream, unsigned ends_before)
      : scene_{scene},
        shard_{shard},
        stream_{std::move(stream)},
        self_{stream_.local_endpoint().value()},
        ends_before_{ends_before},
        replies_{stream_, shard.loop(), scene.world.dice()} {}

  task<void> talk() {
    random& dice = scene_.world.dice();
    unsigned left = dice.between(4U, 16U);
    const bool closes = dice.chance(1, 2);
    const bool half_closes = !closes && dice.chance(1, 2);
    const bool leaves = dice.chance(1, 16);
    while (left > 0 && goes_on_) {
      const unsigned batch = std::min(left, dice.chance(1, 2) ? 1 : dice.between(1U, 6U));
      left -= batch;
      const bool was_asked = co_await ask(batch, closes && left == 0);
      if (!was_asked) break;
      if (left == 0 && half_closes) {
        ended_output_ = true;
        std::ignore = co_await stream_.shutdown();
      }
      if (leaves && dice.chance(1, 2)) co_return;
      if (dice.chance(1, 8))
        std::ignore = co_await sleep_for(shard_.loop(), draw_duration(dice, 50ms));
      while (!owed_.empty() && goes_on_) co_await take_reply();
    }
    if (owed_.empty() && goes_on_ && (closes || half_closes)) co_await see_end();
    settle();
    if (dice.chance(1, 2)) std::ignore = co_await stream_.close();
  }

 private:
  void expect(bool holds, std::string_view what) {
    scene_.world.expect(holds || shard_.crashed(), what);
  }

  task<bool> ask(unsigned count, bool is_last) {
    random& dice = scene_.world.dice();
    std::string text;
    if (scene_.before_server == go_between::balancer && speaks_for_.empty()) {
      speaks_for_ = claimed_address(scene_.last_id);
      text = weft::format("PROXY TCP4 {} 10.0.0.1 4711 80\r\n", speaks_for_);
    }
    for (; count > 0; --count) {
      owed_.push_back(draw_question(scene_, is_last && count == 1, speaks_for_));
      text += owed_.back().text;
      ++scene_.seen.requests;
    }
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t part =
          dice.chance(3, 4) ? rest.size() : dice.between<std::size_t>(1, rest.size());
      const auto written = co_await stream_.write(rest.substr(0, part));
      if (!written) co_return false;
      rest.remove_prefix(part);
    }
    co_return true;
  }

  task<void> take_reply() {
    const question& asked = owed_.front();
    const auto reply = co_await replies_.next(asked.to_head);
    if (!reply) {
      goes_on_ = false;
      co_return;
    }
    ++taken_;
    ++scene_.seen.replies;
    const bool is_refused = may_refuse(asked, reply->status);
    expect(is_refused || reply->status == asked.status,
           "a reply has the status its request asks for");
    if (asked.body && !is_refused)
      expect(asked.to_head ? reply->body.empty() : reply->body == *asked.body,
             "a reply is the one to its request, byte for byte");
    is_closed_ = reply->closes;
    goes_on_ = !is_closed_;
    owed_.pop_front();
  }

  [[nodiscard]] bool may_refuse(const question& asked, int status) const noexcept {
    const bool is_struck = scene_.may_lose(self_, ends_before_);
    if (status == 408) return is_struck;  // what strikes may hold its body up
    const bool may_stop = scene_.server_is_hasty || is_unheard() || is_struck;
    const bool may_be_cut = (asked.is_slow && may_stop) || (asked.is_gathered && is_struck);
    return status == 503 && (scene_.server_is_full || may_be_cut);
  }
  /// Whether the server takes this client for gone, as soon as it looks.
  [[nodiscard]] bool is_unheard() const noexcept {
    return ended_output_ && scene_.server_wants_open_clients;
  }

  /// After the last reply nothing comes but the end.
  task<void> see_end() {
    const auto reply = co_await replies_.next(false);
    expect(!reply, "nothing is replied that was not asked");
    expect(replies_.has_no_rest(), "nothing comes after the last reply");
  }

  /// What is owed must have been lost for a reason.
  void settle() {
    if (scene_.server_is_hasty && !owed_.empty() && owed_.front().is_streamed) return;
    // Whom a balancer brings, beyond what the server takes, is not told so.
    if (scene_.server_is_full && scene_.before_server == go_between::balancer && taken_ == 0)
      return;
    if (owed_.empty() || is_closed_ || is_unheard() || shard_.crashed() ||
        scene_.may_lose(self_, ends_before_))
      return;
    const std::string& text = owed_.front().text;
    scene_.world.fail(weft::format(
        "a reply is lost where nothing has struck: of {}, {} replies to {}, {} still owed; {}",
        self_.to_string(), taken_, text.substr(0, text.find('\r')), owed_.size(),
        replies_.last_error().message()));
  }

  scene& scene_;
  testing::sim_shard& shard_;
  net::tcp_stream stream_;
  net::endpoint self_;
  unsigned ends_before_;
  reply_reader replies_;
  std::deque<question> owed_;
  std::string speaks_for_;
  unsigned taken_ = 0;
  bool goes_on_ = true;
  bool is_closed_ = false;  // the server has said so
  bool ended_output_ = false;
};

}  // namespace

task<void> ask_http(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  const unsigned ends_before = scene.server_ends;
  environment patience = co_await this_task::environment();
  if (dice.chance(1, 8))
    patience.until = deadline::at(shard.loop().now() + draw_duration(dice, 5ms));
  auto stream = co_await net::tcp_stream::connect(shard.loop(), scene.server->endpoint(http_port))
                    .in(patience);
  if (!stream) co_return;
  ++scene.seen.connections;
  client one{scene, shard, std::move(*stream), ends_before};
  co_await one.talk();
}

}  // namespace weft::simulation
