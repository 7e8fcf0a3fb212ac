#include <weft/service/shard.hpp>

#include <exception>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log_parts.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {

shard::shard(unsigned index, std::unique_ptr<event_loop> loop, duration stop_timeout)
    : index_{index}, loop_{std::move(loop)}, stop_timeout_{stop_timeout} {
  services_.provide(*loop_);
}

shard::~shard() = default;

bool shard::run(reports tell) {
  loop_->spawn(live(std::move(tell)));
  try {
    loop_->run();
  } catch (const std::exception& why) {
    log::error_of({"a task of this shard threw: ", why.what()});
    clean_ = false;
  }
  return clean_;
}

task<void> shard::live(reports tell) {
  // Starting and stopping heed deadlines of their own, not the stop request that ends the time
  // between them.
  environment own{.runs_on = loop_.get()};
  const auto started = co_await services_.start().in(own);
  phase_ = phase::running;
  tell.started(started.has_value());
  if (started) {
    co_await until_stopped{*loop_};
    tell.stopping(services_.connections());
  }
  phase_ = phase::stopping;
  own.until = deadline::at(loop_->now() + stop_timeout_);
  const auto stopped = co_await services_.stop().in(own);
  phase_ = phase::ending;
  if (!stopped)
    log::warning(weft::format("services did not stop cleanly: {}", stopped.error().message()));
  clean_ = started && stopped;
}

void shard::reload() {
  const auto posted = loop_->post([this] { services_.reload(); });
  if (!posted)
    log::error(weft::format("shard {} has too much to do to read files again, ask once more: {}",
                            index_, posted.error().message()));
}

std::string shard::progress() const {
  const auto waits = [this](std::string_view what) {
    return weft::format("shard {} {}", index_, what);
  };
  switch (phase_.load()) {
    case phase::starting: return waits("is still starting its services");
    case phase::running:
      return waits("has not heard that it is to stop: something keeps its thread");
    case phase::ending: return waits("waits for tasks that services left behind");
    case phase::stopping: break;
  }
  return waits(weft::format("waits for {} to stop", services_.stopping()));
}

}  // namespace weft
