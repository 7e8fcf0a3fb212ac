#include <weft/http/client/lone_answer.hpp>

#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {
namespace {

/// False: more must come.
std::expected<bool, request_fault> take_head(lone_answer& answer) {
  constexpr limits bounds{};
  for (;;) {
    const auto rest = std::string_view{answer.received}.substr(answer.used);
    const parse_status found = answer.parser.parse(rest, answer.head, bounds);
    if (found == parse_status::incomplete) return false;
    if (found == parse_status::failed)
      return std::unexpected{
          request_fault{errc::protocol_error,
                        weft::format("answers what is no HTTP: {}", answer.parser.fault().reason)}};
    answer.used += answer.head.size_bytes();
    answer.parser.reset();
    if (!answer.head.is_interim()) return true;
  }
}

}  // namespace

task<std::expected<void, request_fault>> read_answer(net::tcp_stream& from, lone_answer& answer) {
  for (;;) {
    auto bytes = co_await from.read();
    if (!bytes)
      co_return std::unexpected{
          request_fault{bytes.error(), "does not answer: " + bytes.error().message()}};
    const std::size_t before = answer.received.size();
    answer.received.append(bytes->text());
    auto taken = take_head(answer);
    if (!taken) co_return std::unexpected{std::move(taken.error())};
    if (!*taken) continue;
    bytes->remove_prefix(answer.used - before);
    if (!bytes->empty()) from.put_back(std::move(*bytes));
    co_return std::expected<void, request_fault>{};
  }
}

}  // namespace weft::http
