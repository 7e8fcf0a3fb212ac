#include <weft/testing/http_client.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <weft/http/headers.hpp>

namespace weft::testing {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

template <class Number>
Number to_number(std::string_view digits) noexcept {
  Number value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

std::optional<std::string_view> http_reply::field(std::string_view name) const noexcept {
  std::string_view left = head;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find(line_end));
    left.remove_prefix(std::min(left.size(), line.size() + line_end.size()));
    const std::size_t colon = line.find(": ");
    if (colon != line.npos && http::equals_ignoring_case(line.substr(0, colon), name))
      return line.substr(colon + 2);
  }
  return std::nullopt;
}

task<void> http_client::send(owned_text bytes) {
  if (const auto sent = co_await stream_.write(bytes.view()); !sent) last_error_ = sent.error();
}

task<http_reply> http_client::ask(owned_text method, owned_text target, owned_text body,
                                  owned_text fields) {
  const std::string_view content = body.view();
  std::string text;
  text.append(method.view()).append(" ").append(target.view());
  text.append(" HTTP/1.1\r\nHost: test\r\n");
  if (!content.empty())
    text.append("Content-Length: ").append(std::to_string(content.size())).append(line_end);
  text.append(fields.view()).append(line_end).append(content);
  co_await send(text);
  co_return co_await reply(method.view() == "HEAD");
}

task<http_reply> http_client::reply(bool to_head) {
  http_reply answer;
  std::size_t end = std::string::npos;
  while ((end = received_.find(head_end)) == std::string::npos) {
    if (!co_await receive_more()) co_return answer;
  }
  answer.head = received_.substr(0, end + head_end.size());
  received_.erase(0, answer.head.size());
  answer.status = to_number<int>(std::string_view{answer.head}.substr(sizeof "HTTP/1.1"));
  const std::size_t size =
      to_head ? 0 : to_number<std::size_t>(answer.field("Content-Length").value_or("0"));
  while (received_.size() < size) {
    if (!co_await receive_more()) break;
  }
  answer.body = received_.substr(0, size);
  received_.erase(0, answer.body.size());
  co_return answer;
}

task<bool> http_client::receive_more() {
  const auto bytes = co_await stream_.read();
  if (bytes)
    received_ += bytes->text();
  else
    last_error_ = bytes.error();
  co_return bytes.has_value();
}

task<std::string> http_client::receive() {
  if (received_.empty()) co_await receive_more();
  co_return std::exchange(received_, {});
}

task<std::string> http_client::rest() {
  while (co_await receive_more()) {}
  co_return std::exchange(received_, {});
}

}  // namespace weft::testing
