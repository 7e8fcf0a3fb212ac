#include <weft/testing/sim_world.hpp>

#include <netinet/in.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/loop/leftovers.hpp>
#include <weft/loop/sim/sim_backend.hpp>

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

/// A world that still goes on by then does not end.
constexpr duration patience = 10min;
constexpr std::uint64_t turns_most = 4'000'000;
constexpr std::uint64_t last_turns_most = 200'000;

/// How to see the failure of the world that runs now again; told by assertions, too.
constinit thread_local std::array<char, 512> replay_line{};

extern "C" void tell_seed(int signal) {
  if (replay_line[0] != '\0')
    static_cast<void>(!::write(STDERR_FILENO, replay_line.data(), std::strlen(replay_line.data())));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Unless somebody else is told already, a sanitizer say.
void tell_seed_at(int signal) {
  if (const auto before = std::signal(signal, &tell_seed); before != SIG_DFL)
    std::signal(signal, before);
}

void tell_seed_no_more(int signal) {
  if (const auto before = std::signal(signal, SIG_DFL); before != &tell_seed)
    std::signal(signal, before);
}

std::string command_line() {
  std::ifstream file{"/proc/self/cmdline"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

sim_plan drawn_plan(std::uint64_t seed) {
  random dice{seed ^ 0x706c616e};  // "plan"
  return sim_plan::draw(dice);
}

}  // namespace

/// Keeps a loop from being done before its host is.
class sim_shard::keeper : private runnable {
 public:
  explicit keeper(sim_shard& owner) noexcept : runnable{&on_run}, owner_{owner} {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    owner_.keeper_ = this;
  }
  void await_resume() const noexcept {}

 private:
  static void on_run(runnable& self) noexcept { static_cast<keeper&>(self).waiting_.resume(); }
  sim_shard& owner_;
  std::coroutine_handle<> waiting_;
};

sim_shard::sim_shard(sim_host_box& owner, unsigned index) : host_{owner}, index_{index} {
  auto made = event_loop::create({.backend = backend_kind::simulated,
                                  .host = &owner.host_,
                                  .buffers_max = 256,
                                  .shuffle_seed = owner.world_.draw_shuffle_seed(),
                                  .shards = owner.mesh_.get(),
                                  .shard = index});
  if (!made) throw sim_failure{"a simulated loop can always be had"};
  loop_ = std::move(*made);
}

bool sim_shard::crashed() const noexcept { return host_.host_.down; }

sim_backend& sim_shard::io() const noexcept { return static_cast<sim_backend&>(loop_->io()); }

bool sim_shard::can_run() const noexcept {
  return !ended() && io().can_run() && !loop_->finished();
}

time_point sim_shard::sleeps_until() const noexcept {
  return ended() || loop_->finished() ? time_point::max() : io().sleeps_until();
}

bool sim_shard::oversleeps() const noexcept {
  return loop_->port()->bell().rung(~doorbell::bits{0}) && !io().can_run() && !io().will_wake() &&
         !loop_->finished();
}

void sim_shard::turn() {
  const event_loop::in_turn current{*loop_};
  loop_->run_once(time_point::max());
}

void sim_shard::end() {
  io().give_buffers_back();
  if (const std::string left = leftovers(); !left.empty()) {
    host_.world_.fail(weft::format("{} leaves behind: {}", host_.name_, left.substr(2)));
    leave_behind();
    return;
  }
  const event_loop::in_turn current{*loop_};
  loop_.reset();
}

void sim_shard::leave_behind() noexcept {
  // Never freed, but known: leak checkers need not tell of it once more.
  static std::vector<event_loop*>& loops = *new std::vector<event_loop*>;
  static std::vector<mesh*>& meshes = *new std::vector<mesh*>;
  loops.push_back(loop_.release());
  if (host_.mesh_ != nullptr) meshes.push_back(host_.mesh_.release());
}

task<void> sim_shard::live() {
  try {
    co_await host_.main_(*this);
  } catch (const std::exception& why) {
    if (!crashed())
      host_.world_.fail(weft::format("a main on {} threw: {}", host_.name_, why.what()));
  }
  host_.main_ended();
}

task<void> sim_shard::stay() { co_await keeper{*this}; }

std::string sim_shard::leftovers() const {
  std::string text;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count != 0) text += weft::format(", {} {}", count, what);
  };
  add(loop_->timers().armed_count(), "timers");
  add(loop_->buffers().in_use(), "buffers");
  add(io().waiting_operations().size(), "operations");
  add(host_.host_.network->sockets_of(io()), "descriptors");
  return text;
}

net::endpoint sim_host_box::endpoint(std::uint16_t port) const noexcept {
  raw_address address;
  auto& in = reinterpret_cast<sockaddr_in&>(address.storage);
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(0x0a00'0001 + host_.index);
  address.size_bytes = sizeof in;
  return net::endpoint{address};
}

void sim_host_box::boot() {
  mains_ended_ = 0;
  host_.network->bring_back(host_);
  mesh_ = std::make_unique<mesh>(shard_count_);
  for (unsigned i = 0; i < shard_count_; ++i)
    shards_.push_back(std::make_unique<sim_shard>(*this, i));
  for (auto& shard : shards_) {
    shard->loop_->spawn(shard->live());
    shard->loop_->spawn(shard->stay());
  }
  if (is_service_ && world_.services_told_) request_stop();
}

void sim_host_box::request_stop() {
  if (mesh_ != nullptr) mesh_->request_stop();
}

void sim_host_box::main_ended() {
  if (++mains_ended_ != shards_.size()) return;
  for (auto& shard : shards_) {
    const auto posted = shard->loop_->post([&shard = *shard] {
      shard.loop_->request_stop();
      shard.loop_->schedule(*shard.keeper_);
    });
    WEFT_ASSERT(posted.has_value(), "a simulated shard has room for its last letter");
  }
}

bool sim_host_box::end_finished() {
  if (mains_ended_ != shard_count_) return false;
  for (auto& shard : shards_)
    if (!shard->ended() && shard->loop_->finished()) shard->end();
  if (!std::ranges::all_of(shards_, [](const auto& shard) { return shard->ended(); })) return false;
  shards_.clear();
  mesh_.reset();
  return true;
}

void sim_host_box::run_down() {
  for (auto& shard : shards_) {
    if (shard->ended()) continue;
    const event_loop::in_turn current{*shard->loop_};
    shard->loop_->request_stop();
  }
  for (std::uint64_t left = last_turns_most; left > 0; --left) {
    if (end_finished()) return;
    bool ran = false;
    time_point next = time_point::max();
    for (auto& shard : shards_) {
      if (shard->can_run()) {
        shard->turn();
        ran = true;
      } else {
        next = std::min(next, shard->sleeps_until());
      }
    }
    if (!ran && next == time_point::max()) break;
    if (!ran) host_.lead = next - host_.network->now();
  }
  world_.fail(weft::format("{} does not come to its end", name_));
  // Its loops cannot be ended, so they are left behind.
  for (auto& shard : shards_)
    if (!shard->ended()) shard->leave_behind();
  shards_.clear();
}

sim_world::sim_world(std::uint64_t seed) : sim_world{seed, drawn_plan(seed)} {}

sim_world::sim_world(std::uint64_t seed, const sim_plan& plan)
    : seed_{seed},
      dice_{seed ^ 0x776f726b},  // "work"
      plan_{plan},
      network_{seed, plan},
      frames_before_{frame_pool::live_frames()} {
  network_.drive(*this);
  const std::string line = "\n" + replay_text() + "\n";
  const std::size_t size = std::min(line.size(), replay_line.size() - 1);
  std::copy_n(line.begin(), size, replay_line.begin());
  replay_line[size] = '\0';
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) tell_seed_at(signal);
}

sim_world::~sim_world() {
  replay_line[0] = '\0';
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) tell_seed_no_more(signal);
}

std::uint64_t sim_world::seed_or(std::uint64_t given) {
  const char* text = std::getenv("WEFT_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : given;
}

std::string sim_world::replay_text() const {
  static const std::string command = command_line();
  return weft::format("replay with: WEFT_SEED={} {}", seed_, command);
}

sim_host_box& sim_world::add_host(std::string name, unsigned shards) {
  return hosts_.emplace_back(*this, network_.add_host(), std::move(name), shards);
}

void sim_world::always(std::string what, unique_function<bool()> holds) {
  invariants_.push_back({.what = std::move(what), .holds = std::move(holds)});
}

void sim_world::fail(std::string_view why) {
  if (failure_.empty()) failure_ = why;
}

void sim_world::run() {
  for (sim_host_box& host : hosts_) host.boot();
  network_.begin_faults();
  while (failure_.empty() && step()) {}
  if (!failure_.empty()) give_up();
  if (failure_.empty() && frame_pool::live_frames() != frames_before_)
    failure_ = weft::format("{} coroutines are left", frame_pool::live_frames() - frames_before_);
  if (!failure_.empty()) throw sim_failure{weft::format("{}\n{}", failure_, replay_text())};
}

void sim_world::crashed(sim_host& host) { hosts_[host.index].run_down(); }

void sim_world::restarts(sim_host& host) {
  sim_host_box& box = hosts_[host.index];
  if (!box.is_done_) box.boot();
}

/// Once only: three shards in the midst of their turns show no more than two.
void sim_world::overlaps(sim_host& host) {
  if (in_turn_ == nullptr) return;
  able_.clear();
  note_able(hosts_[host.index]);
  std::erase(able_, in_turn_);
  if (able_.empty() || !network_.strikes(sim_fault::overlap)) return;
  sim_shard& outer = *std::exchange(in_turn_, nullptr);
  give_turn(*draw_able());
  in_turn_ = &outer;
}

/// One turn, or a leap to the next moment. False: the world has ended.
bool sim_world::step() {
  network_.run_due();
  able_.clear();
  for (sim_host_box& host : hosts_) note_able(host);
  if (!able_.empty()) {
    turn(*draw_able());
    see_to_ends();
    return std::ranges::any_of(hosts_, [](const sim_host_box& host) { return !host.is_done_; });
  }
  const time_point next = next_moment();
  if (next == time_point::max())
    fail("no progress: all wait, and nothing is left that could wake one" + who_is_left());
  else if (next > sim_network::beginning + plan_.faults_last + patience)
    fail("no progress: faults have stopped long ago" + who_is_left());
  network_.advance(next);
  return true;
}

std::string sim_world::who_is_left() const {
  std::string text;
  for (const sim_host_box& host : hosts_)
    for (const auto& shard : host.shards_)
      if (!shard->ended() && !shard->loop_->finished())
        for (const std::string& line : weft::leftovers(*shard->loop_))
          text += weft::format("\n  {}: {}", host.name_, line);
  return text;
}

void sim_world::note_able(sim_host_box& host) {
  if (host.host_.down || host.host_.paused_until > network_.now()) return;
  for (auto& shard : host.shards_)
    if (shard->can_run()) able_.push_back(shard.get());
}

sim_shard* sim_world::draw_able() {
  return able_[able_.size() == 1 ? 0 : network_.dice().below(able_.size())];
}

time_point sim_world::next_moment() const noexcept {
  time_point next = network_.next_event();
  for (const sim_host_box& host : hosts_)
    for (const auto& shard : host.shards_) {
      const time_point when = shard->can_run() ? network_.now() : shard->sleeps_until();
      if (when != time_point::max()) next = std::min(next, std::max(when, host.host_.paused_until));
    }
  return next;
}

void sim_world::give_turn(sim_shard& shard) {
  network_.trace().note(shard.host_.host_.index, shard.index_);
  shard.turn();
  if (++turns_ > turns_most) fail("no end: the world turns on and on");
  if (shard.oversleeps())
    fail(weft::format("{}/{} sleeps, though another shard has something for it", shard.host_.name_,
                      shard.index_));
}

void sim_world::turn(sim_shard& shard) {
  in_turn_ = &shard;
  give_turn(shard);
  in_turn_ = nullptr;
  for (invariant& each : invariants_)
    if (!each.holds()) fail(each.what);
  if (plan_.turn_max > duration::zero())
    network_.advance(now() +
                     duration{network_.dice().between<duration::rep>(0, plan_.turn_max.count())});
}

void sim_world::see_to_ends() {
  bool only_services = true;
  for (sim_host_box& host : hosts_) {
    if (!host.is_done_ && !host.host_.down && host.end_finished()) {
      host.is_done_ = true;
      host.host_.is_lasting = true;
    }
    only_services = only_services && (host.is_done_ || host.is_service_);
  }
  if (!only_services || std::exchange(services_told_, true)) return;
  for (sim_host_box& host : hosts_) host.request_stop();
}

/// What can be ended is ended as after a crash, so that the next world begins with nothing.
void sim_world::give_up() {
  for (sim_host_box& host : hosts_) {
    if (host.shards_.empty()) continue;
    network_.cut_off(host.host_);
    host.run_down();
  }
}

}  // namespace weft::testing
