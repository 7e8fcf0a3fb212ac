#include <weft/service/shard.hpp>

#include <exception>
#include <format>
#include <utility>

#include <weft/base/log.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {

shard::shard(std::unique_ptr<event_loop> loop, duration stop_timeout)
    : loop_{std::move(loop)}, stop_timeout_{stop_timeout} {
  services_.provide(*loop_);
}

shard::~shard() = default;

bool shard::run(unique_function<void(bool)> on_started) {
  loop_->spawn(live(std::move(on_started)));
  try {
    loop_->run();
  } catch (const std::exception& why) {
    log::error(std::format("a task of this shard threw: {}", why.what()));
    clean_ = false;
  }
  return clean_;
}

task<void> shard::live(unique_function<void(bool)> on_started) {
  // Starting and stopping heed deadlines of their own, not the stop request that ends the time
  // between them.
  environment own{.runs_on = loop_.get()};
  const auto started = co_await services_.start().in(own);
  on_started(started.has_value());
  if (started) co_await until_stopped{*loop_};
  own.until = deadline::at(loop_->now() + stop_timeout_);
  const auto stopped = co_await services_.stop().in(own);
  if (!stopped)
    log::warning(std::format("services did not stop cleanly: {}", stopped.error().message()));
  clean_ = started && stopped;
}

void shard::request_stop() {
  loop_->post([this] { loop_->request_stop(); });
}

}  // namespace weft
