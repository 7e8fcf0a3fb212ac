#include <weft/service/application.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iterator>
#include <ranges>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/base/log_escape.hpp>
#include <weft/base/log_parts.hpp>
#include <weft/base/memory_limit.hpp>
#include <weft/base/without_user.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/memory_return.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/loop/thread_place.hpp>
#include <weft/realtime/allocation_guard.hpp>
#include <weft/service/application_state.hpp>
#include <weft/service/description.hpp>
#include <weft/service/realtime_settings.hpp>
#include <weft/service/shard.hpp>
#include <weft/service/signal_watch.hpp>
#include <weft/service/standard_services.hpp>
#include <weft/telemetry/loop_series.hpp>
#include <weft/telemetry/memory_series.hpp>

namespace weft {
namespace {

constexpr int exit_failed = 1;
/// A file with thousands would bury the first.
constexpr std::size_t faults_shown = 20;
constexpr duration end_timeout_max = std::chrono::hours{24};

/// No sum of a time now and this overflows.
application_options bounded(application_options given) {
  given.end_timeout = std::min(given.end_timeout, end_timeout_max);
  return given;
}

/// To stdout, which may be a full disk. The exit code.
int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  log::error(weft::format("stdout does not take what was asked for: {}",
                          std::generic_category().message(errno)));
  return exit_failed;
}

/// Memory that is locked, set aside or never to be asked for while it serves is meant to stay.
bool keeps_memory(const realtime_options& wanted) noexcept {
  return wanted.lock_memory || wanted.heap_bytes != 0 ||
         wanted.allocations != realtime::on_allocation::allow;
}

}  // namespace

application::application(int argc, char** argv, application_options options)
    : state_{std::make_unique<state>(argc, argv, bounded(std::move(options)))} {}

application::~application() = default;

command_line& application::options() noexcept { return state_->cli; }

void application::introduce(unique_function<void(config&)> bind) {
  state_->introductions.push_back(std::move(bind));
}

config& application::given() noexcept { return state_->given; }

void application::install(installer add_service) {
  state_->installers.push_back(std::move(add_service));
}

std::optional<int> application::parse() {
  state_->parsed = true;
  return state_->cli.parse(state_->argc, state_->argv);
}

int application::run() {
  if (!state_->parsed)
    if (const auto code = parse()) return *code;
  if (const auto code = state_->configure()) return *code;
  return state_->run();
}

void application::check_options(unique_function<std::vector<std::string>()> f) {
  state_->checks.push_back(std::move(f));
}

void application::on_ready(unique_function<void()> f) { state_->ready = std::move(f); }

bool application::logs_json() const noexcept { return state_->settings.wants_json(); }

net::address_book& application::addresses() noexcept { return state_->addresses; }

void application::request_stop() { state_->stop_all(); }

/// Of an option: for people, unless a program reads the log.
void application::state::complain(const std::string& fault) const {
  if (settings.wants_json()) {
    use_log_format(log_format::json);
    log::error(without_passwords(fault));
  } else {
    std::fputs(weft::format("{}: {}\n", cli.program(), log::escaped(fault)).c_str(), stderr);
  }
}

/// Hears everybody who may set an option. An exit code if the program ends with that.
std::optional<int> application::state::configure() {
  for (auto& bind : introductions) bind(given);
  std::vector<std::string> faults = settings.apply(cli, given);
  if (faults.empty()) {
    settings.set_log();
    faults = given.faults();
    for (auto& check : checks) std::ranges::move(check(), std::back_inserter(faults));
  }
  for (const std::string& fault : faults | std::views::take(faults_shown)) complain(fault);
  if (faults.size() > faults_shown)
    complain(
        weft::format("{} more faults like these: mend these first", faults.size() - faults_shown));
  if (!faults.empty()) return command_line::exit_usage;
  if (settings.is_to_check()) {
    return print("all options are right\n");
  }
  if (settings.is_to_print()) {
    return print(given.to_toml());
  }
  options.threads = settings.now().threads != 0 ? settings.now().threads : usable_cpus();
  options.stop_timeout = settings.now().stop_timeout;
  options.stall_limit = settings.now().stall_limit;
  if (!settings.graph().empty()) {
    return print_graph();
  }
  return std::nullopt;
}

int application::state::run() {
  detail::signal_watch signals;
  if (const auto heard = signals.start(); !heard) {
    log::error(heard.error());
    return exit_failed;
  }
  // A reader that went away is a failed write, not our end, and so is a file that may not grow.
  for (const int each : {SIGPIPE, SIGXFSZ})
    if (::signal(each, SIG_IGN) == SIG_ERR) {
      log::error(weft::format("signal {} cannot be ignored, which would end the program: {}", each,
                              std::system_category().message(errno)));
      return exit_failed;
    }
  const unsigned cpus = usable_cpus();
  const std::string& idle = settings.now().idle;
  if (parse_idle(idle)->spins() && options.threads > cpus)
    log::warning(weft::format("--idle {}: {} shards poll on {} CPU{} and take them from each other",
                              idle, options.threads, cpus, cpus == 1 ? "" : "s"));
  watch_stalls();
  begin();
  run_shard(0, &signals);
  for (std::thread& other : others) other.join();
  end();
  return clean ? 0 : exit_failed;
}

void application::state::run_shard(unsigned index, detail::signal_watch* signals) {
  if (index != 0) place_thread({.name = "shard", .index = index});
  auto loop = event_loop::create({.backend = *parse_backend(settings.backend()),
                                  .buffers_max = buffers_of_shard(),
                                  .idle = *parse_idle(settings.now().idle),
                                  .shards = shards_mesh.get(),
                                  .shard = index,
                                  .watched_by = stalls.get(),
                                  .memory = &memory});
  if (!loop) {
    log::error(weft::format("shard {} has no event loop: {}", index, loop.error().message()));
    clean = false;
    stop_all();
    return;
  }
  shard here{index, std::move(*loop), options.stop_timeout};
  add_services(here, *metrics);
  // Before the services start, whatever the order of tasks: to watch the first time may allocate.
  if (signals != nullptr)
    here.loop().spawn(watch_signals(here.loop(), *signals), priority::critical);
  if (here.loop().has_threads() && !keeps_memory(settings.realtime()))
    here.loop().spawn(return_memory(here.loop()));
  const realtime::applied_setup granted = detail::apply_on_shard(settings.realtime(), index);
  detail::serving_guard guard{settings.realtime(), index};
  enlist(here);
  if (!here.run({.started =
                     [&, index](bool up) {
                       on_started(index, up);
                       if (up) guard.begin();
                     },
                 .stopping =
                     [&](auto connections) {
                       guard.end();
                       on_stopping(connections);
                     }})) {
    clean = false;
    stop_all();  // a program that has lost a shard has lost what only that shard did
  }
  discharge(here);
}

void application::state::add_services(shard& here, telemetry::registry& numbers) {
  container& services = here.services();
  services.provide(addresses);
  for (installer& add_service : installers) add_service(services);
  detail::add_standard_services(services, numbers, here.index());
}

/// What would be made, on loops that nothing runs.
int application::state::print_graph() {
  application_description all;
  telemetry::registry numbers{{.shards = options.threads}};
  for (unsigned index = 0; index < options.threads; ++index) {
    auto loop = event_loop::create({.backend = backend_kind::simulated, .shard = index});
    WEFT_ASSERT(loop.has_value(), "a simulated loop can always be had");
    shard here{index, std::move(*loop), options.stop_timeout};
    add_services(here, numbers);
    all.shards.push_back({.shard = index, .services = here.services().describe()});
  }
  const std::string text = settings.graph() == "json" ? to_json(all) + '\n' : to_graphviz(all);
  return print(text);
}

void application::state::on_started(unsigned index, bool up) {
  if (!up) {
    if (index == 0) give_up_from(1);
    stop_all();
    return;
  }
  // The first shard goes ahead, so that what is wrong with the program is said once, not once a
  // shard.
  if (index == 0) start_others();
  if (++started != options.threads) return;
  log::info(weft::format("ready, {} shard{}", options.threads, options.threads == 1 ? "" : "s"));
  if (ready) ready();
}

void application::state::start_others() {
  try {
    for (unsigned index = 1; index < options.threads; ++index)
      unpin_thread(
          others.emplace_back([this, index] { run_shard(index, nullptr); }).native_handle());
  } catch (const std::system_error& why) {
    log::error(weft::format("shard {} has no thread: {}", others.size() + 1, why.what()));
    give_up_from(static_cast<unsigned>(others.size()) + 1);
    clean = false;
    stop_all();
  }
}

/// Nobody is to wait for shards that will not be.
void application::state::give_up_from(unsigned first) {
  for (unsigned index = first; index < options.threads; ++index) shards_mesh->give_up(index);
}

void application::state::enlist(shard& here) {
  const std::lock_guard lock{mutex};
  shards.push_back(&here);
}

void application::state::discharge(shard& here) {
  const std::lock_guard lock{mutex};
  std::erase(shards, &here);
}

void application::state::on_stopping(std::optional<std::size_t> connections) {
  const std::lock_guard lock{mutex};
  if (connections) open_at_stop = open_at_stop.value_or(0) + *connections;
  if (++stopping != options.threads || !open_at_stop) return;
  log::info(weft::format("draining {} connection{}, for {} at most", *open_at_stop,
                         *open_at_stop == 1 ? "" : "s",
                         std::chrono::duration_cast<std::chrono::seconds>(options.stop_timeout)));
}

void application::state::watch_stalls() {
  if (options.stall_limit <= duration::zero()) return;
  try {
    stalls = std::make_unique<stall_watch>(options.stall_limit);
  } catch (const std::system_error& why) {
    log::warning(weft::format("nothing watches that no task keeps its shard: {}", why.what()));
  }
}

/// Half: the other half is for the program itself, what its allocator and the kernel add, and the
/// turn in which a limit is met.
void application::state::limit_memory() {
  std::uint64_t bytes = settings.now().memory_bytes;
  if (bytes == 0) {
    const memory_limit most = find_memory_limit();
    bytes = std::max(most.bytes / 2, detail::application_section::least_memory_bytes);
    log::debug(weft::format("clients may be given {} MiB of memory, half of {}", bytes >> 20U,
                            most.origin));
  }
  memory.set_limit(std::min<std::uint64_t>(bytes, memory_budget::unlimited));
}

/// All shards together an eighth of the budget; and more than io_uring keeps for itself.
std::uint32_t application::state::buffers_of_shard() const noexcept {
  constexpr std::size_t least = 512;
  const std::size_t most = loop_options{}.buffers_max;
  return static_cast<std::uint32_t>(
      std::clamp(memory.limit() / 8 / options.threads / buffer_pool::slot_bytes, least, most));
}

void application::state::begin() {
  limit_memory();
  if (!keeps_memory(settings.realtime())) map_large_blocks();
  metrics.emplace(telemetry::registry_options{.shards = options.threads});
  loops_counted = metrics->add_source([this](telemetry::snapshot& into) {
    std::vector<loop_gauges> gauges(options.threads);
    std::vector<memory_gauges> held(options.threads);
    const std::lock_guard lock{mutex};
    for (shard* const each : shards) {
      gauges[each->index()] = each->loop().gauges();
      held[each->index()] = each->loop().memory().gauges();
    }
    telemetry::add_loop_series(into, gauges);
    telemetry::add_memory_series(into, memory, held);
  });
  {
    const std::lock_guard lock{mutex};
    running = true;
    shards_mesh = std::make_unique<mesh>(options.threads);
    if (!stop_requested) return;
  }
  stop_all();
}

task<void> application::state::watch_signals(event_loop& loop, detail::signal_watch& signals) {
  for (;;) {
    const auto came = co_await readable(loop, signals.fd());
    if (!came && came.error() == errc::cancelled) co_return;  // the shard stops
    const auto taken = came ? signals.take() : result<int>{fail(came.error())};
    if (!taken) {
      log::error(
          weft::format("signals cannot be heard any more ({}): stopping", taken.error().message()));
      clean = false;
      stop_all();
      co_return;
    }
    if (*taken == 0) continue;
    // To write to the log, and to read files again.
    const realtime::allocation_guard allowed{realtime::on_allocation::allow};
    if (*taken == SIGHUP) {
      read_again();
      continue;
    }
    log::info(*taken == SIGINT ? "SIGINT: stopping; once more to end at once"
                               : "SIGTERM: stopping; once more to end at once");
    stop_all();
    co_return;
  }
}

void application::state::read_again() noexcept {
  log::info("SIGHUP: services read their files again");
  try {
    for (const std::string& fault : settings.read_log_again(cli))
      log::error(weft::format("the log stays as it is: {}", fault));
    const std::lock_guard lock{mutex};
    for (shard* each : shards) each->reload();
  } catch (const std::exception& why) {
    log::error_of({"not all files are read again, send SIGHUP once more: ", why.what()});
  }
}

}  // namespace weft
