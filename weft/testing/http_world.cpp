#include <weft/testing/http_world.hpp>

#include <exception>
#include <system_error>
#include <utility>

#include <weft/base/error_code.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::testing {
namespace {

template <class T>
T value_or_throw(result<T> made, const char* what) {
  if (!made) throw std::system_error{make_error_code(made.error()), what};
  if constexpr (!std::is_void_v<T>) return std::move(*made);
}

}  // namespace

http_world::http_world(backend_kind kind, http::server_options options)
    : loop_{value_or_throw(event_loop::create({.backend = kind}), "the event loop of a test")} {
  options.listen = "127.0.0.1:0";
  server_ =
      std::make_unique<http::server>(std::move(options), *loop_, addresses_, metrics_.shard(0));
}

http_world::~http_world() = default;

void http_world::run(unique_function<task<void>()> body) {
  loop_->spawn(drive(std::move(body)));
  loop_->run();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

task<void> http_world::drive(unique_function<task<void>()> body) {
  try {
    value_or_throw(server_->start(), "starting the server of a test");
    co_await body();
  } catch (...) {
    failure_ = std::current_exception();
  }
  try {
    value_or_throw(co_await server_->stop(), "stopping the server of a test");
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
}

task<http_client> http_world::connect() {
  co_return http_client{
      value_or_throw(co_await net::tcp_stream::connect(*loop_, server_->local_endpoint()),
                     "connecting to the server of a test")};
}

task<void> http_world::sleep(duration length) {
  value_or_throw(co_await sleep_for(*loop_, length), "sleeping in a test");
}

}  // namespace weft::testing
