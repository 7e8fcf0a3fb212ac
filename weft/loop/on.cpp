#include <weft/loop/on.hpp>

#include <tuple>

#include <weft/base/assert.hpp>

namespace weft::detail {

remote_call::remote_call(event_loop& home, unsigned shard, start_function start) noexcept
    : stop_registration{&on_stop},
      timer{deadline_kind},
      runnable{&on_run},
      home_{home},
      shard_{shard},
      request_{&on_request, *this},
      stop_request_{&on_stop_arrived, *this},
      answer_{&on_answer, *this},
      stop_answer_{&on_stop_returned, *this},
      start_{start} {}

bool remote_call::begin(std::coroutine_handle<> waiting, const environment& env) {
  WEFT_ASSERT(home_.port() != nullptr, "on() needs a loop that is a shard of a mesh");
  if (env.stop.stop_requested()) return refuse(errc::cancelled);
  if (env.until.passed(home_.now())) return refuse(errc::timed_out);
  home_.port()->connect(shard_);
  waiting_ = waiting;
  asking_ = &env;
  until_ = env.until;
  env.stop.subscribe(*this);
  home_.port()->send(shard_, request_);
  // Once it has left, the deadline is kept over there.
  const bool stands_in_line = request_.in_line.is_linked();
  if (stands_in_line && !until_.is_never()) home_.timers().arm(*this, until_.when());
  return true;
}

bool remote_call::refuse(error why) noexcept {
  refusal_ = why;
  return false;
}

void remote_call::on_request(message& item, mesh_port* there) noexcept {
  remote_call& call = call_of(item);
  if (there != nullptr) {
    call.start_(call, there->loop());
    return;
  }
  call.refusal_ = errc::closed;
  call.finish();
}

const environment& remote_call::open_environment(event_loop& there) noexcept {
  stop_there_.emplace(there.root().stop);
  there_ = {.stop = stop_there_->token(),
            .until = until_,
            .runs_on = &there,
            .owner = nullptr,
            .called_by = asking_,
            .trace = asking_->trace};
  return there_;
}

void remote_call::answer(event_loop& there) noexcept {
  stop_there_.reset();
  ran_ = true;
  there.port()->send(home_.shard(), answer_);
}

void remote_call::on_answer(message& item, mesh_port*) noexcept { call_of(item).finish(); }

/// The answer is here, or never will be. The call still waits for its stop request to come back:
/// the other shard may be looking at it.
void remote_call::finish() noexcept {
  answered_ = true;
  stop_registration::disarm();
  home_.timers().disarm(*this);
  if (stop_sent_ && home_.port()->take_back(stop_request_)) stop_sent_ = false;
  if (!stop_sent_) home_.schedule(*this);
}

void remote_call::on_stop(stop_registration& self) noexcept {
  auto& call = static_cast<remote_call&>(self);
  if (call.take_back(errc::cancelled)) return;
  call.stop_sent_ = true;
  call.home_.port()->send(call.shard_, call.stop_request_);
}

void remote_call::on_deadline(timer& self) noexcept {
  std::ignore = static_cast<remote_call&>(self).take_back(errc::timed_out);
}

/// True: it had not left, and ends now.
bool remote_call::take_back(errc why) noexcept {
  if (!home_.port()->take_back(request_)) return false;
  refusal_ = why;
  finish();
  return true;
}

void remote_call::on_stop_arrived(message& item, mesh_port* there) noexcept {
  remote_call& call = call_of(item);
  if (there == nullptr) {
    on_stop_returned(item, nullptr);
    return;
  }
  if (!call.ran_ && call.stop_there_) call.stop_there_->request_stop();
  there->send(call.home_.shard(), call.stop_answer_);
}

void remote_call::on_stop_returned(message& item, mesh_port*) noexcept {
  remote_call& call = call_of(item);
  call.stop_sent_ = false;
  if (call.answered_) call.home_.schedule(call);
}

void remote_call::on_run(runnable& self) noexcept {
  resume(static_cast<remote_call&>(self).waiting_);
}

}  // namespace weft::detail
