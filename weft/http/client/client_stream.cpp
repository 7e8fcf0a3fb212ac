#include <weft/http/client/client_stream.hpp>

#include <weft/http/client/streamed_request.hpp>

namespace weft::http {

using detail::streamed_request;

void detail::end_streamed_request::operator()(streamed_request* of) const noexcept { delete of; }

task<client_result<std::string_view>> client_stream::read() {
  auto piece = co_await request_->run<std::string_view>(
      [](client_exchange& exchange) { return exchange.read(); });
  if (!piece) {
    outcome_ = fail(piece.error());
    co_return piece;
  }
  if (!piece->empty()) co_return piece;
  // Others may have the connection now.
  request_->exchange.leave();
  outcome_ = {};
  co_return std::unexpected{client_error{errc::closed, "the body has ended"}};
}

borrowing_task<client_result<void>> client_upload::write(borrowed_text text) {
  co_return co_await request_->run<void>(
      [text](client_exchange& exchange) { return exchange.write(text.view()); });
}

task<client_result<client_stream>> client_upload::finish() {
  auto answered = co_await request_->run<void>(
      [](client_exchange& exchange) { return exchange.finish_upload(); });
  if (!answered) co_return std::unexpected{std::move(answered.error())};
  client_response head{request_->exchange.head(), request_->exchange.text()};
  co_return client_stream{std::move(request_), std::move(head)};
}

}  // namespace weft::http
