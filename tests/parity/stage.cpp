#include "stage.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <exception>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/loopback_test.hpp>

namespace weft::parity {
namespace {

using namespace std::chrono_literals;
using net::pattern;

/// Longer than a slow machine needs: a step that takes it has hung.
constexpr duration patience = 2min;

template <class T>
std::string outcome(const result<T>& done) {
  return done ? "ok" : to_string(done.error().code());
}

std::size_t number_in(std::string_view text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end || text.empty())
    throw std::invalid_argument{weft::format("no number: '{}'", text)};
  return number;
}

/// The first word, and the rest.
std::pair<std::string_view, std::string_view> words(std::string_view text) noexcept {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {text, {}};
  return {text.substr(0, space), text.substr(space + 1)};
}

file_access access_named(std::string_view name) {
  using enum file_access;
  constexpr std::array<std::pair<std::string_view, file_access>, 5> known{
      {{"read", read},
       {"read_write", read_write},
       {"create", create},
       {"create_new", create_new},
       {"replace", replace}}};
  for (const auto& [each, access] : known)
    if (each == name) return access;
  throw std::invalid_argument{weft::format("no way to open a file: '{}'", name)};
}

/// A name without a file, of this process and this stage alone.
net::endpoint unix_name() {
  static unsigned made = 0;
  return net::endpoint::parse(weft::format("unix:@weft-parity-{}-{}", ::getpid(), ++made)).value();
}

struct received {
  std::string bytes;
  std::optional<error> end;
};

/// As many bytes as asked for, or as come before the stream ends or the read is given up.
task<received> take(net::tcp_stream& stream, std::size_t most) {
  received all;
  std::array<char, 4'096> room;
  while (all.bytes.size() < most) {
    const std::size_t wanted = std::min(most - all.bytes.size(), room.size());
    const auto got = co_await stream.read(std::span{room}.first(wanted));
    if (!got) {
      all.end = got.error();
      break;
    }
    all.bytes.append(room.data(), *got);
  }
  co_return all;
}

std::string told(const received& all) {
  if (!all.end) return all.bytes;
  const std::string_view end = to_string(all.end->code());
  return all.bytes.empty() ? std::string{end} : weft::format("{}, {}", all.bytes, end);
}

task<void> tell_after(event_loop& loop, time_point until, std::string_view name,
                      std::string& into) {
  const auto slept = co_await sleep_until{loop, until};
  into += weft::format("{}{}", into.empty() ? "" : " ", slept ? name : outcome(slept));
}

}  // namespace

stage::stage(event_loop& loop, transport over, std::string folder)
    : loop_{loop}, over_{over}, folder_{std::move(folder)} {}

task<std::vector<shown>> stage::play(const std::vector<step>& steps) {
  std::vector<shown> all;
  for (const step& each : steps) {
    actor& who = actors_[each.who];
    std::string answer = "ok";
    if (each.is_left_waiting)
      co_await leave_waiting(who, each);
    else
      answer = co_await with_timeout(patience, perform(who, each));
    all.push_back({.what = &each, .answer = std::move(answer)});
  }
  co_await clear();
  co_return all;
}

/// What a script gets wrong is shown as well, where it stands.
task<std::string> stage::perform(actor& who, const step& what) {
  const act does = find(what.verb);
  if (does == nullptr) co_return weft::format("no verb: '{}'", what.verb);
  try {
    if (what.within) co_return co_await with_timeout(*what.within, (this->*does)(who, what));
    co_return co_await (this->*does)(who, what);
  } catch (const std::exception& why) {
    co_return std::string{why.what()};
  }
}

task<void> stage::leave_waiting(actor& who, const step& what) {
  who.ended.clear();
  who.waiting = std::make_unique<scope>(co_await this_task::environment());
  who.waiting->spawn(keep_answer(who, what));
  co_await settle();
}

task<void> stage::keep_answer(actor& who, const step& what) {
  who.ended = co_await with_timeout(patience, perform(who, what));
}

task<void> stage::clear() {
  for (auto& [name, who] : actors_) {
    if (who.waiting == nullptr) continue;
    who.waiting->request_stop();
    co_await who.waiting->join();
  }
  actors_.clear();
}

/// Turns enough for what can happen at once to have happened.
task<void> stage::settle() {
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t now = loop_.turns();
    while (loop_.turns() == now) co_await yield{loop_};
  }
}

task<std::string> stage::listen(actor& who, const step& what) {
  const bool is_tcp = over_ == transport::tcp;
  listen_options options;
  if (!what.argument.empty()) options.backlog = static_cast<int>(number_in(what.argument));
  auto made =
      net::tcp_listener::bind(loop_, is_tcp ? net::endpoint::loopback(0) : unix_name(), options);
  if (!made) co_return outcome(made);
  who.listener.emplace(std::move(*made));
  addresses_.insert_or_assign(what.who, who.listener->local_endpoint());
  co_return "ok";
}

task<std::string> stage::connect(actor& who, const step& what) {
  auto made = co_await net::tcp_stream::connect(loop_, addresses_.at(what.argument));
  if (made) who.stream.emplace(std::move(*made));
  co_return outcome(made);
}

task<std::string> stage::accept(actor& who, const step& what) {
  auto made = co_await actors_.at(what.argument).listener.value().accept();
  if (made) who.stream.emplace(std::move(*made));
  co_return outcome(made);
}

task<std::string> stage::write(actor& who, const step& what) {
  const auto written = co_await who.stream.value().write(std::string_view{what.argument});
  if (!written) co_return outcome(written);
  co_return outcome(co_await who.stream->flush());
}

task<std::string> stage::write_many(actor& who, const step& what) {
  co_return outcome(co_await who.stream.value().write(pattern(number_in(what.argument))));
}

task<std::string> stage::write_until_failed(actor& who, const step& /*what*/) {
  for (;;) {
    const auto written = co_await who.stream.value().write("x");
    if (!written) co_return outcome(written);
    const auto flushed = co_await who.stream->flush();
    if (!flushed) co_return outcome(flushed);
    const auto slept = co_await sleep_for(loop_, 1ms);
    if (!slept) co_return outcome(slept);
  }
}

task<std::string> stage::read(actor& who, const step& what) {
  co_return told(co_await take(who.stream.value(), number_in(what.argument)));
}

task<std::string> stage::read_many(actor& who, const step& what) {
  const std::size_t size = number_in(what.argument);
  const received all = co_await take(who.stream.value(), size);
  if (all.bytes == pattern(size)) co_return "as sent";
  co_return weft::format("{} bytes, {}", all.bytes.size(),
                         all.end ? to_string(all.end->code()) : "not as sent");
}

task<std::string> stage::read_all(actor& who, const step& /*what*/) {
  co_return told(co_await take(who.stream.value(), ~std::size_t{0}));
}

task<std::string> stage::has_input(actor& who, const step& /*what*/) {
  while (!who.stream.value().has_input()) {
    const auto slept = co_await sleep_for(loop_, 1ms);
    if (!slept) co_return outcome(slept);
  }
  co_return "ok";
}

task<std::string> stage::shut_down(actor& who, const step& /*what*/) {
  co_return outcome(co_await who.stream.value().shutdown());
}

task<std::string> stage::close(actor& who, const step& /*what*/) {
  co_return outcome(co_await who.stream.value().close());
}

task<std::string> stage::drop(actor& who, const step& /*what*/) {
  who.listener.reset();
  who.stream.reset();
  who.socket.reset();
  who.data.reset();
  co_await settle();
  co_return "ok";
}

task<std::string> stage::bind(actor& who, const step& what) {
  auto made = net::udp_socket::bind(loop_, net::endpoint::loopback(0));
  if (!made) co_return outcome(made);
  who.socket.emplace(std::move(*made));
  addresses_.insert_or_assign(what.who, who.socket->local_endpoint().value());
  co_return "ok";
}

task<std::string> stage::join(actor& who, const step& what) {
  auto made = net::udp_socket::connect(loop_, addresses_.at(what.argument));
  if (!made) co_return outcome(made);
  who.socket.emplace(std::move(*made));
  addresses_.insert_or_assign(what.who, who.socket->local_endpoint().value());
  co_return "ok";
}

task<std::string> stage::send(actor& who, const step& what) {
  const auto [to, text] = words(what.argument);
  if (to == "peer")
    std::ignore = co_await who.socket.value().send(text);
  else
    std::ignore = co_await who.socket.value().send(addresses_.at(std::string{to}), text);
  co_return outcome(co_await who.socket->flush());
}

task<std::string> stage::receive(actor& who, const step& /*what*/) {
  if (who.datagrams.empty()) {
    const auto batch = co_await who.socket.value().receive();
    if (!batch) co_return outcome(batch);
    for (const datagram& each : *batch) who.datagrams.emplace_back(each.bytes.text());
  }
  std::string first = std::move(who.datagrams.front());
  who.datagrams.pop_front();
  co_return first;
}

task<std::string> stage::open(actor& who, const step& what) {
  const auto [access, name] = words(what.argument);
  auto made =
      co_await file::open(loop_, weft::format("{}/{}", folder_, name), access_named(access));
  if (made) who.data.emplace(std::move(*made));
  co_return outcome(made);
}

task<std::string> stage::write_at(actor& who, const step& what) {
  const auto [offset, text] = words(what.argument);
  co_return outcome(co_await who.data.value().write_at(number_in(offset), text));
}

task<std::string> stage::read_at(actor& who, const step& what) {
  const auto [offset, count] = words(what.argument);
  std::string into(number_in(count), '\0');
  const auto got = co_await who.data.value().read_at(number_in(offset), into);
  if (!got) co_return outcome(got);
  into.resize(*got);
  for (char& each : into)
    if (each == '\0') each = '.';
  co_return into.empty() ? "nothing" : into;
}

task<std::string> stage::size(actor& who, const step& /*what*/) {
  const auto size = co_await who.data.value().size();
  co_return size ? std::to_string(*size) : outcome(size);
}

task<std::string> stage::sync(actor& who, const step& /*what*/) {
  co_return outcome(co_await who.data.value().sync());
}

task<std::string> stage::close_file(actor& who, const step& /*what*/) {
  co_return outcome(co_await who.data.value().close());
}

task<std::string> stage::sleep(actor& /*who*/, const step& what) {
  co_return outcome(co_await sleep_for(loop_, std::chrono::milliseconds{number_in(what.argument)}));
}

/// From one moment on, so that their order is not the machine's to say.
task<std::string> stage::sleepers(actor& /*who*/, const step& what) {
  const time_point began = loop_.now();
  std::string order;
  scope all{co_await this_task::environment()};
  for (std::string_view left = what.argument; !left.empty();) {
    const auto [length, others] = words(left);
    const time_point until = began + std::chrono::milliseconds{number_in(length)};
    all.spawn(tell_after(loop_, until, length, order));
    left = others;
  }
  co_await all.join();
  co_return order;
}

task<std::string> stage::stop(actor& who, const step& /*what*/) {
  if (who.waiting == nullptr) co_return "nothing was left waiting";
  who.waiting->request_stop();
  co_return "ok";
}

task<std::string> stage::ended(actor& who, const step& /*what*/) {
  if (who.waiting == nullptr) co_return "nothing was left waiting";
  co_await who.waiting->join();
  co_return who.ended;
}

task<std::string> stage::ended_or_read(actor& who, const step& what) {
  std::string answer = co_await ended(who, what);
  if (answer != to_string(errc::cancelled)) co_return answer;
  co_return co_await read(who, what);
}

task<std::string> stage::is_waiting(actor& who, const step& /*what*/) {
  co_await settle();
  co_return who.waiting != nullptr&& who.waiting->active() != 0 ? "yes" : "no";
}

stage::act stage::find(std::string_view name) noexcept {
  static constexpr std::array<verb, 29> verbs{{
      {"listen", &stage::listen},
      {"connect", &stage::connect},
      {"accept", &stage::accept},
      {"write", &stage::write},
      {"write-many", &stage::write_many},
      {"write-until-failed", &stage::write_until_failed},
      {"read", &stage::read},
      {"read-many", &stage::read_many},
      {"read-all", &stage::read_all},
      {"has-input", &stage::has_input},
      {"shutdown", &stage::shut_down},
      {"close", &stage::close},
      {"drop", &stage::drop},
      {"bind", &stage::bind},
      {"join", &stage::join},
      {"send", &stage::send},
      {"receive", &stage::receive},
      {"open", &stage::open},
      {"write-at", &stage::write_at},
      {"read-at", &stage::read_at},
      {"size", &stage::size},
      {"sync", &stage::sync},
      {"close-file", &stage::close_file},
      {"sleep", &stage::sleep},
      {"sleepers", &stage::sleepers},
      {"stop", &stage::stop},
      {"ended", &stage::ended},
      {"ended-or-read", &stage::ended_or_read},
      {"is-waiting", &stage::is_waiting},
  }};
  for (const verb& each : verbs)
    if (each.name == name) return each.does;
  return nullptr;
}

}  // namespace weft::parity
