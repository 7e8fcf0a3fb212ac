#include <apps/weftd/control_api.hpp>

#include <chrono>
#include <expected>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/file_swap.hpp>

#include <apps/weftd/control_message.hpp>

namespace weftd {
namespace {

using std::chrono::seconds;

constexpr unsigned owner_alone = 0600;
constexpr seconds patience{10};

/// Without its end; nothing: none has come.
weft::task<std::string> read_line(weft::net::tcp_stream& from) {
  std::string text;
  while (text.size() < control_line_bytes) {
    const auto bytes = co_await from.read();
    if (!bytes) co_return std::string{};
    text.append(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (const auto end = text.find('\n'); end != text.npos) co_return text.substr(0, end);
  }
  co_return std::string{};
}

/// In the folder that a link leads to now: it has to be removed from there, wherever it leads then.
std::string path_of(const control_options& options, const weft::store::file_swapper& files) {
  if (!options.socket.empty()) return options.socket;
  std::error_code why;
  const auto real = std::filesystem::canonical(files.folder(), why);
  return weft::format("{}/{}", why ? files.folder() : real.string(), control_socket_name);
}

}  // namespace

weft::task<weft::result<void>> control_api::start() {
  const bool is_wanted = options_.socket != "none" && files_ && !files_->folder().empty();
  if (!is_wanted) co_return {};
  const std::string path = path_of(options_, *files_);
  const auto complain = [&path](weft::error why) {
    weft::log::warning(
        weft::format("`weftd swap` will not find this server: {}: {}: --weftd.control_api.socket "
                     "names another path",
                     path, why.message()));
  };
  const auto where = weft::net::endpoint::parse("unix:" + path);
  if (!where) {
    complain(where.error());
    co_return {};
  }
  auto claim = weft::net::address_claim::take(*where, owner_alone);
  if (!claim) {
    complain(claim.error());
    co_return {};
  }
  claim_.emplace(std::move(*claim));
  auto listener = weft::net::tcp_listener::bind(loop_, claim_->address(), claim_->options());
  if (!listener) {
    complain(listener.error());
    co_return {};
  }
  listener_.emplace(std::move(*listener));
  own_.spawn(serve());
  co_return {};
}

weft::task<void> control_api::serve() {
  while (auto stream = co_await listener_->accept()) co_await answer(std::move(*stream));
}

weft::task<void> control_api::answer(weft::net::tcp_stream stream) {
  std::string line = co_await weft::with_timeout(patience, read_line(stream));
  if (line.empty()) co_return;
  std::string reply = co_await reply_to(std::move(line));
  // Who has left does not learn it; what was asked for is done.
  static_cast<void>(co_await stream.write(std::move(reply)));
}

weft::task<std::string> control_api::reply_to(std::string line) {
  control_reply told;
  const auto asked = weft::json::read<control_request>(line);
  if (!asked) {
    told.error = weft::format("the request cannot be read: {}", asked.error().message());
  } else if (asked->command != "swap") {
    told.error = weft::format("there is no command {}", asked->command);
  } else if (!files_) {
    told.error = "the rows of this server are not in files";
  } else {
    auto swapped = co_await files_->swap(
        {.database = asked->database, .file = asked->file, .keeps_schema = asked->keepSchema});
    if (swapped) {
      told.kept = std::move(swapped->kept);
      told.differences = std::move(swapped->differences);
      weft::log::info(weft::format("the database {} was swapped for {}; the former file is {}",
                                   asked->database, asked->file, told.kept));
    } else {
      told.error = std::move(swapped.error());
    }
  }
  std::string text;
  weft::json::write(told, text);
  text += '\n';
  co_return text;
}

}  // namespace weftd
