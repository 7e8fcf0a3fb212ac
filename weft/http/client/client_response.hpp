// What a server has answered, whole.
//
// Contract: a movable value that owns all it shows; views of it live as long as it, wherever it is
// moved. Its body is as long as it was announced: one that broke off is an error of the client.
// Single thread.
//
//   if (answer->status() == http::status::ok) use(answer->body());
//   if (auto type = answer->header("content-type")) ...
//   auto order = answer->json<new_order>();
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/headers.hpp>
#include <weft/http/status.hpp>
#include <weft/json/read.hpp>

namespace weft::http {

class client_response {
 public:
  /// Of a head whose bytes are at the front of `text`; these are copied.
  client_response(const response_head& head, std::string_view text);

  /// 100 to 999; those above 599 are to be taken for errors of the server.
  [[nodiscard]] http::status status() const noexcept { return content_->head.status(); }
  /// Whether the status is 2xx.
  [[nodiscard]] bool is_success() const noexcept {
    return std::to_underlying(status()) / 100U == 2;
  }
  [[nodiscard]] const header_list& headers() const noexcept { return content_->head.headers(); }
  /// The value of the first field of that name, in any case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return headers().find(name);
  }
  [[nodiscard]] const std::string& body() const noexcept { return content_->body; }
  [[nodiscard]] std::string take_body() noexcept { return std::move(content_->body); }
  /// The body as a T.
  template <class T>
  [[nodiscard]] std::expected<T, weft::json::error> json() const {
    return weft::json::read<T>(body());
  }

  /// For the client.
  void append(std::string_view piece) { content_->body.append(piece); }
  void reserve(std::size_t size_bytes) { content_->body.reserve(size_bytes); }

 private:
  struct content {
    static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
    static void operator delete(void* memory, std::size_t size_bytes) noexcept {
      frame_pool::deallocate(memory, size_bytes);
    }
    response_head head;  // lies in `text`
    std::string text;
    std::string body;
  };
  std::unique_ptr<content> content_;
};

}  // namespace weft::http
