#include <weft/store/sqlite/query_processes.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/sqlite/query_message.hpp>
#include <weft/store/sqlite/query_run.hpp>
#include <weft/store/turn_share.hpp>

namespace weft::store::sqlite {
namespace {

/// How often it is looked whether the writer calls on readers to leave.
constexpr duration between_looks = std::chrono::milliseconds{50};
/// What SQLite's caches and the allocator have gathered goes with the process.
constexpr unsigned queries_of_a_process = 1'000;
/// Until it reads its first message, it loads the program.
constexpr std::uint32_t cpu_seconds_to_spare = 2;

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return weft::format(
        "the process that ran the query was ended by signal {}: the system may be "
        "out of memory, or the database damaged",
        WTERMSIG(status));
  return weft::format(
      "the process that ran the query ended with exit code {}: its last line is "
      "in the log",
      WEXITSTATUS(status));
}

}  // namespace

/// One query, and how far it is.
struct query_processes::question {
  const query_request& request;
  const std::string& message;
  const writer& writes;
  time_point until;
  query_sink& to;
  std::uint64_t calls_to_leave = 0;
  std::vector<column> columns{};
  bool has_columns = false;
  std::size_t rows = 0;
  /// The process waits for the next query.
  bool is_at_rest = false;
  bool is_in_the_way = false;
  failure fault{};

  [[nodiscard]] task<result<query_answer>> answer_of(query_process& process, event_loop& loop);
  [[nodiscard]] task<result<std::string_view>> message_of(query_process& process, event_loop& loop);
  [[nodiscard]] task<result<bool>> go_on(query_process& process, event_loop& loop,
                                         engine_counts& counts);
  [[nodiscard]] task<result<bool>> end_early(query_process& process, event_loop& loop,
                                             const query_answer& last, std::size_t told);
};

task<result<std::string_view>> query_processes::question::message_of(query_process& process,
                                                                     event_loop& loop) {
  for (;;) {
    const time_point look = std::min(until, loop.now() + between_looks);
    const auto came = co_await with_deadline(deadline::at(look), process.receive(loop));
    if (came || came.error() != errc::timed_out) co_return came;
    if (loop.now() >= until) co_return fail(errc::timed_out);
    is_in_the_way = writes.calls_to_leave() != calls_to_leave;
    if (is_in_the_way) co_return fail(errc::cancelled);
  }
}

task<result<query_answer>> query_processes::question::answer_of(query_process& process,
                                                                event_loop& loop) {
  const auto came = co_await message_of(process, loop);
  if (!came) co_return fail(came.error());
  auto answer = read_answer(
      *came, has_columns ? std::optional{columns.size()} : std::optional<std::size_t>{});
  if (!answer || answer->rows > request.rows_max - rows) co_return fail(errc::protocol_error);
  rows += answer->rows;
  is_at_rest = answer->is != query_answer::state::has_more;
  co_return std::move(*answer);
}

/// The sink has enough: whether that was all.
task<result<bool>> query_processes::question::end_early(query_process& process, event_loop& loop,
                                                        const query_answer& last,
                                                        std::size_t told) {
  std::string command;
  bool was_all = told == last.rows && last.is == query_answer::state::is_all;
  if (!is_at_rest && told == last.rows) {
    write_command(query_command::kind::go_on, command);
    if (const auto sent = co_await process.send(loop, command); !sent) co_return fail(sent.error());
    const auto more = co_await answer_of(process, loop);
    was_all = more && more->is == query_answer::state::is_all && more->rows == 0;
    if (!more) co_return false;
  }
  if (!is_at_rest) {
    command.clear();
    write_command(query_command::kind::leave, command);
    is_at_rest = (co_await process.send(loop, command)).has_value();
  }
  co_return was_all;
}

task<result<bool>> query_processes::question::go_on(query_process& process, event_loop& loop,
                                                    engine_counts& counts) {
  std::string command;
  write_command(query_command::kind::go_on, command);
  for (;;) {
    auto answer = co_await answer_of(process, loop);
    if (!answer) co_return fail(answer.error());
    if (answer->is == query_answer::state::has_failed) {
      fault = {.kind = answer->why, .message = answer->message, .of_query = answer->of_query};
      co_return false;
    }
    counts.query_rows.add(answer->rows);
    if (answer->columns) {
      columns = std::move(*answer->columns);
      has_columns = true;
      to.columns(columns);
    }
    std::span<const value> left = answer->values;
    for (std::size_t told = 0; told < answer->rows; ++told) {
      const bool wants_more = to.row(left.first(columns.size()));
      left = left.subspan(columns.size());
      if (!wants_more) co_return co_await end_early(process, loop, *answer, told + 1);
      if (to.is_turn_over()) co_await next_turn(loop);
    }
    if (is_at_rest) co_return answer->is == query_answer::state::is_all;
    if (const auto sent = co_await process.send(loop, command); !sent) co_return fail(sent.error());
  }
}

/// May wait for the disk. The log and its index are there afterwards, and a journal that another
/// program has left is rolled back: the process may do neither.
std::expected<file_identity, std::string> query_processes::make_ready(storage& from,
                                                                      const std::string& database) {
  auto lent = from.reader(database);
  if (!lent) return std::unexpected{std::move(lent.error())};
  // What fails here fails there, too, and is told then.
  static_cast<void>((*lent)->number("PRAGMA schema_version"));
  return (*lent)->identity();
}

std::optional<query_processes::worker> query_processes::take_idle(const std::string& database,
                                                                  const file_identity& of) {
  const auto found = std::ranges::find_if(
      idle_, [&](const worker& each) { return each.database == database && each.of == of; });
  if (found == idle_.end()) return std::nullopt;
  std::optional taken{std::move(*found)};
  idle_.erase(found);
  return taken;
}

std::uint64_t query_processes::memory_bytes() const noexcept {
  return within_budget(options_.query_memory_bytes, loop_.memory().budget().limit());
}

task<result<query_processes::worker>> query_processes::start(storage& from, std::string database,
                                                             file_identity of) {
  const query_process_start with{.program = options_.query_program,
                                 .directory = from.directory(),
                                 .database = database,
                                 .memory_bytes = memory_bytes(),
                                 .busy_timeout = options_.busy_timeout};
  auto made = co_await blocking([&] { return query_process::start(with); });
  if (!made) co_return fail(made.error());
  counts_.query_processes.add();
  co_return worker{.process = std::move(*made), .database = std::move(database), .of = of};
}

/// Whether the file that it has open still has the name.
bool query_processes::is_in_place(const storage& from, const worker& by) {
  return identify(from.path_of(by.database)) == by.of;
}

task<void> query_processes::keep(const storage& from, worker done) {
  if (++done.queries >= queries_of_a_process || !is_in_place(from, done))
    co_return co_await done.process.end(loop_);
  done.was_seen_idle = false;
  idle_.push_back(std::move(done));
  if (idle_.size() <= options_.queries_max) co_return;
  worker oldest = std::move(idle_.front());
  idle_.erase(idle_.begin());
  co_await oldest.process.end(loop_);
}

task<void> query_processes::end_idle(storage& from) {
  std::vector<worker> ended;
  for (worker& each : idle_)
    if (std::exchange(each.was_seen_idle, true) || !is_in_place(from, each))
      ended.push_back(std::move(each));
  std::erase_if(idle_, [](const worker& each) { return each.process.pid() < 0; });
  for (worker& each : ended) co_await each.process.end(loop_);
}

/// The process is at rest afterwards, or to be ended.
task<result<bool>> query_processes::ask(worker& by, question& asked) {
  asked.calls_to_leave = asked.writes.calls_to_leave();
  if (by.queries == 0) {
    const auto came = co_await asked.message_of(by.process, loop_);
    if (!came) co_return fail(came.error());
    if (!read_greeting(*came)) co_return fail(errc::protocol_error);
  }
  const auto sent = co_await by.process.send(loop_, asked.message);
  if (!sent) co_return fail(sent.error());
  co_return co_await asked.go_on(by.process, loop_, counts_);
}

borrowing_task<result<bool>> query_processes::run(storage& from, const query_request& request,
                                                  time_point until, query_sink& to) {
  const auto left = std::max(until - loop_.now(), duration{0});
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left).count();
  std::string message;
  write_query(request,
              {.memory_bytes = memory_bytes(),
               .cpu_seconds = static_cast<std::uint32_t>(seconds) + cpu_seconds_to_spare},
              message);
  const auto fail_by = [&](const failure& why) {
    counts_.failed(why.kind);
    to.failed(why);
    return false;
  };
  if (message.size() > query_message_bytes_max)
    co_return fail_by(
        {.kind = failure_kind::invalid,
         .message = weft::format("the query and its parameters have {} bytes; at most {} are "
                                 "allowed",
                                 message.size(), query_message_bytes_max),
         .of_query = query_fault::limit});
  const std::string database{request.database};
  for (;;) {
    const auto ready = co_await blocking([&] { return make_ready(from, database); });
    if (!ready) co_return fail(ready.error());
    if (!*ready && !from.has_file(database)) co_return fail(errc::not_found);
    if (!*ready) co_return fail_by({.kind = failure_kind::input_output, .message = ready->error()});
    std::optional<worker> by = take_idle(database, **ready);
    const bool is_used = by.has_value();
    if (!is_used) {
      auto started = co_await start(from, database, **ready);
      if (!started && started.error() == errc::limit_exceeded) co_return fail(started.error());
      if (!started)
        co_return fail_by({.kind = failure_kind::busy,
                           .message = weft::format("no process for the query could be started: {}",
                                                   started.error().message())});
      by.emplace(std::move(*started));
    }
    question asked{.request = request,
                   .message = message,
                   .writes = from.writer_of(database),
                   .until = until,
                   .to = to};
    const auto told = co_await with_deadline(deadline::at(until), ask(*by, asked));
    const bool has_failed = !asked.fault.message.empty();
    // Its files may have been made anew since it has opened them, or it may have ended long ago.
    const bool is_of_file = has_failed ? asked.fault.kind == failure_kind::input_output
                                       : !told && told.error() == errc::closed;
    const bool is_stale = is_used && !asked.has_columns && is_of_file;
    const std::string why{asked.fault.message};  // of what the process has sent
    if (asked.is_at_rest && !is_stale) {
      co_await keep(from, std::move(*by));
    } else {
      counts_.query_processes_killed.add();
      co_await by->process.end(loop_);
    }
    if (is_stale) continue;
    if (is_of_file && !from.has_file(database)) co_return fail(errc::not_found);
    if (has_failed)
      co_return fail_by(
          {.kind = asked.fault.kind, .message = why, .of_query = asked.fault.of_query});
    if (told) co_return *told;
    if (asked.is_in_the_way)
      co_return fail_by({.kind = failure_kind::busy, .message = kept_the_log});
    if (told.error() == errc::protocol_error)
      co_return fail_by({.kind = failure_kind::other,
                         .message = "the process that ran the query answered what is no answer: "
                                    "is store.sqlite.engine.query_program of this version?"});
    if (told.error() == errc::closed)
      co_return fail_by(
          {.kind = failure_kind::other, .message = describe_end(by->process.exit_status())});
    co_return fail(told.error());
  }
}

}  // namespace weft::store::sqlite
