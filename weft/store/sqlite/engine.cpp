#include <weft/store/sqlite/engine.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/semaphore.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/scan_token.hpp>
#include <weft/store/schema_change.hpp>
#include <weft/store/schema_looks.hpp>
#include <weft/store/sqlite/cold_batch.hpp>
#include <weft/store/sqlite/database_swap.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/file_calls.hpp>
#include <weft/store/sqlite/query_line.hpp>
#include <weft/store/sqlite/query_sandbox.hpp>
#include <weft/store/sqlite/queued_write.hpp>
#include <weft/store/sqlite/scan_line.hpp>
#include <weft/store/sqlite/schema_load.hpp>
#include <weft/store/sqlite/shard_database.hpp>
#include <weft/store/sqlite/storage.hpp>
#include <weft/store/turn_share.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t cold_operations_max = 256;
/// How long reads that wait for the disk wait for their memory.
constexpr duration memory_wait = std::chrono::seconds{1};
constexpr unsigned refreshes_max = 3;
/// How often the folder is looked at while a database is refused.
constexpr duration look_at_refused = std::chrono::seconds{1};
constexpr std::string_view file_was_replaced =
    "the database's file was replaced while its rows were read: ask again";
constexpr std::string_view rows_are_too_large =
    "the rows have more bytes than the memory budget (application.memory_bytes) has room for: ask "
    "for fewer rows or columns at once, or raise the budget";
constexpr std::string_view row_is_too_large =
    "the row has more bytes than the memory budget (application.memory_bytes) has room for: ask "
    "for fewer columns, or raise the budget";
constexpr std::string_view rows_are_alike =
    "rows of the table may have NULL for their keys, and cannot be told apart, since columns are "
    "named rowid, _rowid_ and oid: declare the key NOT NULL, or rename one of these columns";

task<result<void>> acquire_one(semaphore& of) { co_return co_await of.acquire(); }

std::uint64_t cache_share(const engine_options& options, event_loop& loop) noexcept {
  const std::uint64_t cache_bytes =
      within_budget(options.page_cache_bytes, loop.memory().budget().limit());
  const mesh_port* const port = loop.port();
  return cache_bytes / (port != nullptr ? port->shards().size() : 1);
}

}  // namespace

struct engine::state {
  struct releasing {
    void operator()(semaphore* turns) const noexcept { turns->release(); }
  };
  /// Of a batch that holds memory for its rows while it waits for more: one at a time has it. If
  /// all of them went on at once, each would hold what the others wait for, until all had failed.
  using long_turn = std::unique_ptr<semaphore, releasing>;

  /// Where a batch stands, and why it does not go on.
  struct progress {
    std::size_t done = 0;
    shard_database* at = nullptr;  // of the operation that is cold or stale
    shard_database::outcome why = shard_database::outcome::told;
    // Once it has waited: which files the rows so far are of.
    struct seen_file {
      std::string_view database;
      file_identity is;
    };
    std::vector<seen_file> files{};
    std::size_t noted = 0;  // operations whose files are among those
    long_turn turn{};
  };

  state(engine_options from_config, event_loop& on, lifetime& owner, telemetry::meter& meter)
      : options{std::move(from_config)}, loop{on}, own{owner}, turn_end{*this}, counts{meter} {}
  ~state() {
    if (files != nullptr) files->stop_telling(loop);
    if (turn_end.hook.is_linked()) turn_end.hook.unlink();
  }

  [[nodiscard]] task<result<void>> open();
  [[nodiscard]] task<void> follow();
  [[nodiscard]] task<result<void>> until_changed();
  void close_what_has_moved();
  [[nodiscard]] task<result<void>> refresh();
  [[nodiscard]] task<result<void>> look_now();
  [[nodiscard]] task<result<void>> look();
  void take_over(loaded found);
  void complain(const std::vector<std::string>& lines);
  void tell_blindness();
  static void tell_refused_calls();
  void tell_confinement();

  void read_warm(std::span<const key_read> operations, progress& at, read_sink& to);
  /// For a row of so many bytes, and for what is made of it. errc::limit_exceeded: there never is.
  [[nodiscard]] task<result<memory_reservation>> reserve(std::size_t size_bytes,
                                                         std::size_t kept_bytes);
  [[nodiscard]] task<result<void>> read_cold(std::span<const key_read> operations, progress& at,
                                             read_sink& to);
  [[nodiscard]] task<result<void>> tell_cold(std::span<const key_read> operations, progress& at,
                                             read_sink& to, const cold_batch& batch,
                                             memory_reservation& memory);
  void refuse_row(std::span<const key_read> operations, progress& at, read_sink& to);
  void note_files(std::span<const key_read> operations, progress& at);
  [[nodiscard]] bool are_same_files(const progress& at) const noexcept;
  [[nodiscard]] std::optional<file_identity> file_of(std::string_view database) const noexcept;
  void forget_statements(const table& of) noexcept;
  [[nodiscard]] task<result<void>> until_durable(queued_write& batch);
  [[nodiscard]] shard_database* database_of(const table& named) noexcept;
  void note_turn(shard_database& read) noexcept;
  /// However a read ends, the transaction that it has begun ends with the turn.
  struct [[nodiscard]] noted_turn {
    state& of;
    shard_database& read;
    ~noted_turn() { of.note_turn(read); }
  };

  /// In the turn's step for what was filled and not flushed, which comes after all that is ready
  /// has run.
  struct end_of_turn final : flushable {
    explicit end_of_turn(state& owner) noexcept : flushable{&run}, of{owner} {}
    static void run(flushable& self) noexcept {
      for (const auto& each : static_cast<end_of_turn&>(self).of.databases) each->end_turn();
    }
    state& of;
  };

  engine_options options;
  event_loop& loop;
  lifetime& own;
  end_of_turn turn_end;
  std::shared_ptr<storage> files;
  memory_reservation caches;  // of pages, as far as they may grow
  catalog_ref schema{std::make_unique<const catalog>(std::vector<catalog::database_definition>{})};
  std::vector<std::unique_ptr<shard_database>> databases;
  shard_database* last_read = nullptr;
  const table* last_table = nullptr;  // of last_read
  std::vector<value> room;
  mutex refreshing;
  std::shared_ptr<event> files_changed = std::make_shared<event>();
  scan_line scans{options.scans_max, options.scans_waiting_max};
  std::vector<std::string> told;  // to the log, last
  bool has_told_blind = false;
  std::uint64_t catalogs = 0;  // so many have been taken over
  engine_counts counts;
  semaphore long_turns{1};
  schema_looks misses{loop, own, [this] { return look_now(); }, counts.looks};
  query_line queries{options, loop, counts};
};

task<result<void>> engine::state::open() {
  auto opened = co_await blocking([this] { return storage::open(options); });
  if (!opened) co_return fail(opened.error());
  if (!*opened) {
    log::error(opened->error());
    co_return fail(errc::not_found);
  }
  files = std::move(**opened);
  caches = loop.memory().hold(memory_kind::caches, cache_share(options, loop));
  files->tell_of_changes(loop, files_changed);
  co_return co_await refresh();
}

task<void> engine::state::follow() {
  for (;;) {
    try {
      const duration pause = files->refused() == 0
                                 ? options.schema_refresh
                                 : std::min(options.schema_refresh, look_at_refused);
      const auto changed = co_await with_timeout(pause, until_changed());
      if (!changed && changed.error() != errc::timed_out) co_return;
      files_changed->reset();
      // Too many who wait for a thread: later, then.
      static_cast<void>(co_await refresh());
      co_await queries.end_idle(*files);
      continue;
    } catch (const std::bad_alloc&) {
      log::error("there is no memory to look at the schema: it is looked at again");
    }
    co_await yield{loop};
  }
}

/// Or until its time is over.
task<result<void>> engine::state::until_changed() { co_return co_await files_changed->wait(); }

/// What is not in its place is closed, so that all of the process can open it anew.
void engine::state::close_what_has_moved() {
  for (const auto& each : databases) {
    if (!each->is_suspect()) static_cast<void>(each->is_in_place());
    if (each->is_suspect()) each->close();
  }
}

task<result<void>> engine::state::refresh() {
  const std::uint64_t before = catalogs;
  auto one = co_await refreshing.lock();
  if (!one) co_return fail(one.error());
  if (catalogs != before) co_return {};  // somebody has done it meanwhile
  co_return co_await look();
}

/// Whatever others have seen meanwhile.
task<result<void>> engine::state::look_now() {
  auto one = co_await refreshing.lock();
  if (!one) co_return fail(one.error());
  co_return co_await look();
}

/// One at a time.
task<result<void>> engine::state::look() {
  close_what_has_moved();
  std::vector<known_database> known;
  known.reserve(databases.size());
  for (const auto& each : databases)
    known.push_back({each->name(), each->identity(), each->version(), each->is_suspect()});
  const catalog_ref before = schema;
  auto found = co_await blocking([&] {
    return load_databases(*files, {known, before->refused(), cache_share(options, loop)});
  });
  if (!found) co_return fail(found.error());
  complain(found->complaints);
  tell_blindness();
  if (found->has_changed) take_over(std::move(*found));
  co_return {};
}

void engine::state::complain(const std::vector<std::string>& lines) {
  if (lines == told) return;
  for (const std::string& line : lines) log::error(line);
  told = lines;
}

void engine::state::tell_blindness() {
  const bool are_refused = nowait_reads::are_refused();
  if (has_told_blind || !(are_refused || nowait_reads::has_been_blind())) return;
  has_told_blind = true;
  if (are_refused)
    return log::warning(
        "the system refuses preadv2, and cannot say whether a page is in memory; a policy of the "
        "container (seccomp) may forbid that call: store.sqlite.engine.blind_reads decides who "
        "waits for it");
  log::warning("the file system of " + files->directory() +
               " cannot say whether a page is in memory: store.sqlite.engine.blind_reads decides "
               "who waits for it");
}

/// Before the folder is opened, which may fail for that.
void engine::state::tell_refused_calls() {
  static std::once_flag once;  // of all shards
  std::call_once(once, [] {
    for (const refused_call& each : find_refused_file_calls())
      log::error(weft::format(
          "the system refuses {}, which databases need; a policy of the container (seccomp) may "
          "forbid that call",
          each.message()));
  });
}

void engine::state::tell_confinement() {
  if (options.query_program.empty() || !loop.has_threads()) return;
  if (const auto refused = find_refused_query_call())
    queries.refuse_all(weft::format(
        "queries in SQL cannot be run: the system refuses {}; a policy of the container (seccomp) "
        "may forbid that call",
        refused->message()));
  static std::once_flag once;  // of all shards
  std::call_once(once, [this] {
    if (!queries.refused().empty()) log::error(queries.refused());
    const sandbox_support has = find_sandbox_support();
    if (has.landlock == 0)
      log::warning(
          "this system has no Landlock, or refuses it: processes that run queries in SQL could "
          "open other files, "
          "if a fault of SQLite let a query do more than read");
    if (!has.seccomp)
      log::warning(
          "this system has no seccomp: processes that run queries in SQL could make any system "
          "call, if a fault of SQLite let a query do more than read");
  });
}

/// If there is no memory for all of it, nothing is taken over.
void engine::state::take_over(loaded found) {
  std::vector<std::unique_ptr<shard_database>> next;  // nullptr: of one that is kept
  std::vector<catalog::database_definition> definitions;
  for (loaded_database& each : found.databases) {
    next.push_back(each.opened
                       ? std::make_unique<shard_database>(each.name, std::move(*each.opened),
                                                          *files, options.statements_max, counts)
                       : nullptr);
    if (each.is_kept)
      for (const auto& old : schema->tables())
        if (old->database() == each.name) each.tables.push_back(old->definition());
    definitions.push_back({each.name, std::move(each.tables)});
  }
  const std::size_t refused = found.refused.size();
  catalog_ref tables{
      std::make_unique<const catalog>(std::move(definitions), std::move(found.refused))};
  // Nothing is allocated from here on.
  for (std::size_t i = 0; i < next.size(); ++i) {
    const loaded_database& each = found.databases[i];
    if (next[i] == nullptr)
      next[i] = std::move(*std::ranges::find_if(
          databases, [&](const auto& old) { return old != nullptr && old->name() == each.name; }));
    if (each.is_refused) next[i]->close();
    next[i]->follow(each.version);
  }
  databases = std::move(next);
  const auto kept = std::ranges::count_if(found.databases, &loaded_database::is_refused);
  counts.refused.set(kept + static_cast<std::int64_t>(refused));
  last_read = nullptr;
  last_table = nullptr;
  schema = std::move(tables);
  ++catalogs;
  counts.catalogs.add();
}

shard_database* engine::state::database_of(const table& named) noexcept {
  if (&named == last_table) return last_read;
  for (const auto& each : databases) {
    if (each->name() != named.database()) continue;
    last_table = &named;
    return last_read = each.get();
  }
  return nullptr;
}

void engine::state::note_turn(shard_database& read) noexcept {
  if (!read.in_transaction() || turn_end.hook.is_linked()) return;
  loop.flush_later(turn_end);
  counts.transactions.add();
}

void engine::state::read_warm(std::span<const key_read> operations, progress& at, read_sink& to) {
  nowait_reads here{options.blind_reads};
  while (at.done < operations.size()) {
    key_read operation = operations[at.done];
    operation.from = schema->current(*operation.from);
    if (operation.from == nullptr) {
      to.failed(at.done++, {.kind = failure_kind::schema_changed, .message = schema_has_changed});
      if (to.is_full()) at.done = operations.size();
      continue;
    }
    at.at = database_of(*operation.from);
    WEFT_ASSERT(at.at != nullptr, "a catalog's tables are those of open databases");
    {
      const noted_turn ends{*this, *at.at};
      at.why = at.at->read(at.done, operation, room, here, to);
    }
    if (at.why != shard_database::outcome::told) return;
    ++at.done;
    counts.warm_reads.add();
    if (at.done == operations.size()) return;
    if (to.is_full()) at.done = operations.size();
    if (to.is_turn_over()) return;
  }
}

std::optional<file_identity> engine::state::file_of(std::string_view database) const noexcept {
  for (const auto& each : databases)
    if (each->name() == database && each->is_open()) return each->identity();
  return std::nullopt;
}

/// Before a wait: what was read in this turn is of the files that are open now.
void engine::state::note_files(std::span<const key_read> operations, progress& at) {
  for (; at.noted < at.done; ++at.noted) {
    const std::string_view database = operations[at.noted].from->database();
    if (std::ranges::contains(at.files, database, &progress::seen_file::database)) continue;
    if (const auto is = file_of(database)) at.files.push_back({database, *is});
  }
}

/// After it. One that is not open is looked at when its next row is read.
bool engine::state::are_same_files(const progress& at) const noexcept {
  return std::ranges::all_of(at.files, [this](const progress::seen_file& each) {
    const auto now = file_of(each.database);
    return !now || *now == each.is;
  });
}

/// `kept_bytes`: what the same request holds already. errc::limit_exceeded: both together exceed
/// what the budget can ever grant.
task<result<memory_reservation>> engine::state::reserve(std::size_t size_bytes,
                                                        std::size_t kept_bytes) {
  if (!loop.memory().may_ever_have(size_bytes + kept_bytes, memory_priority::normal))
    co_return fail(errc::limit_exceeded);
  auto memory = co_await with_timeout(
      memory_wait,
      reserve_memory(loop.memory(), memory_kind::queries, size_bytes, memory_priority::normal));
  if (!memory && memory.error() != errc::limit_exceeded) co_return fail(errc::exhausted);
  co_return memory;
}

task<result<void>> engine::state::read_cold(std::span<const key_read> operations, progress& at,
                                            read_sink& to) {
  // As many as are of the same database, made for today's catalog.
  std::size_t count = 0;
  while (count < std::min(operations.size() - at.done, cold_operations_max)) {
    const key_read& each = operations[at.done + count];
    if (schema->current(*each.from) == nullptr) break;
    if (each.from->database() != at.at->name()) break;
    ++count;
  }
  const std::string name = at.at->name();  // which may go meanwhile
  const std::int64_t version = at.at->version();
  const auto seen = std::ranges::find(at.files, name, &progress::seen_file::database);
  const auto file = seen != at.files.end() ? std::optional{seen->is} : file_of(name);
  const std::size_t columns = operations[at.done].columns.size();
  for (std::size_t bytes_max = cold_batch::bytes_max_at_first;;) {
    const bool is_long = bytes_max > cold_batch::bytes_max_at_first;
    if (is_long && operations.size() > 1 && !at.turn) {
      if (!co_await with_timeout(memory_wait, acquire_one(long_turns)))
        co_return fail(errc::exhausted);
      at.turn.reset(&long_turns);
    }
    auto memory = co_await reserve(cold_batch::memory_for(bytes_max, columns), to.kept_bytes());
    if (!memory && memory.error() == errc::limit_exceeded) {
      refuse_row(operations, at, to);
      co_return {};
    }
    if (!memory) co_return fail(memory.error());
    cold_batch batch{*files, name, version, file, operations.subspan(at.done, count), bytes_max};
    const time_point began = loop.now();
    const auto waited = co_await blocking([&] { batch.run(); });
    if (!waited) co_return fail(waited.error());
    counts.cold_waits.record(loop.now() - began);
    if (batch.wanted_bytes() == 0) co_return co_await tell_cold(operations, at, to, batch, *memory);
    // Of a row with several long values each try sees one more.
    bytes_max = std::max(batch.wanted_bytes(), bytes_max + bytes_max / 2);
    count = 1;
  }
}

task<result<void>> engine::state::tell_cold(std::span<const key_read> operations, progress& at,
                                            read_sink& to, const cold_batch& batch,
                                            memory_reservation& memory) {
  const std::size_t told_of = batch.size();
  for (std::size_t told = 0; told < told_of && !to.is_full();) {
    told = batch.tell(at.done, told, to, counts, memory);
    if (told < told_of) co_await next_turn(loop);
  }
  at.done = to.is_full() ? operations.size() : at.done + told_of;
  counts.cold_reads.add(told_of);
  at.why = batch.is_stale() ? shard_database::outcome::stale : shard_database::outcome::told;
  co_return {};
}

/// Of a row that can never fit the budget, alone or beside the earlier rows of its batch.
void engine::state::refuse_row(std::span<const key_read> operations, progress& at, read_sink& to) {
  counts.failed(failure_kind::too_large);
  to.failed(at.done, {.kind = failure_kind::too_large,
                      .message = to.kept_bytes() == 0 ? row_is_too_large : rows_are_too_large});
  at.done = to.is_full() ? operations.size() : at.done + 1;
  at.why = shard_database::outcome::told;
}

/// Where nothing was new for the catalog, they alone were of an older schema.
void engine::state::forget_statements(const table& of) noexcept {
  const table* const now = schema->current(of);
  if (now == nullptr) return;
  shard_database* const known = database_of(*now);
  known->follow(known->version());
}

task<result<void>> engine::state::until_durable(queued_write& batch) {
  const time_point began = loop.now();
  counts.batches_waiting.add(1);
  const result<void> written = co_await batch;
  counts.batches_waiting.add(-1);
  counts.write_waits.record(loop.now() - began);
  if (batch.has_led_commit()) counts.commits.add();
  co_return written;
}

engine::engine(engine_options options, event_loop& loop, lifetime& own, telemetry::meter& meter)
    : state_{std::make_unique<state>(std::move(options), loop, own, meter)} {}
engine::~engine() = default;

task<result<void>> engine::start() {
  if (state_->options.directory.empty()) co_return {};
  state::tell_refused_calls();
  if (const auto opened = co_await state_->open(); !opened) co_return fail(opened.error());
  state_->tell_confinement();
  state_->own.spawn(state_->follow());
  co_return {};
}

const catalog_ref& engine::schema() const noexcept { return state_->schema; }
std::size_t engine::writes_waiting() const { return state_->files->writes_waiting(); }
bool engine::is_reachable() const noexcept {
  return state_->files == nullptr || state_->files->refused() == 0;
}
std::uint64_t engine::commits() const noexcept { return state_->files->commits(); }
task<result<void>> engine::refresh() {
  if (state_->files == nullptr) co_return {};
  co_return co_await state_->refresh();
}

task<result<void>> engine::after_miss() {
  if (state_->files == nullptr) co_return {};
  co_return co_await state_->misses.after_miss();
}

borrowing_task<result<void>> engine::read(std::span<const key_read> operations, read_sink& to) {
  state& s = *state_;
  state::progress at;
  for (unsigned refreshes = 0;;) {
    if (!s.are_same_files(at)) {
      for (; at.done < operations.size() && !to.is_full(); ++at.done)
        to.failed(at.done, {.kind = failure_kind::schema_changed, .message = file_was_replaced});
      co_return {};
    }
    s.read_warm(operations, at, to);
    if (at.done == operations.size()) co_return {};
    s.note_files(operations, at);
    if (at.why == shard_database::outcome::told) {
      co_await next_turn(s.loop);
    } else if (at.why == shard_database::outcome::cold) {
      const auto read = co_await s.read_cold(operations, at, to);
      if (!read) co_return read;
    }
    if (at.why != shard_database::outcome::stale) continue;
    if (++refreshes > refreshes_max) {
      to.failed(at.done++, {.kind = failure_kind::schema_changed, .message = schema_has_changed});
      continue;
    }
    const std::uint64_t before = s.catalogs;
    const auto refreshed = co_await s.refresh();
    if (!refreshed) co_return refreshed;
    if (s.catalogs == before) s.forget_statements(*operations[at.done].from);
  }
}

borrowing_task<result<void>> engine::write(std::span<const key_write> operations, write_sink& to) {
  state& s = *state_;
  if (operations.empty()) co_return {};
  const std::string& database = operations.front().to->database();
  if (!std::ranges::all_of(operations,
                           [&](const key_write& each) { return each.to->database() == database; }))
    co_return fail(errc::invalid_argument);
  for (unsigned refreshes = 0; refreshes <= refreshes_max; ++refreshes) {
    if (!are_current(*s.schema, operations, to)) co_return {};
    shard_database* const known = s.database_of(*s.schema->current(*operations.front().to));
    WEFT_ASSERT(known != nullptr, "a catalog's tables are those of open databases");
    known->end_turn();  // nobody need wait for what it reads
    // The writer would wait in vain for this shard to close a log that is another by now.
    if (known->is_open() && !known->is_in_place()) {
      if (const auto refreshed = co_await s.refresh(); !refreshed) co_return refreshed;
      continue;
    }
    queued_write batch{s.loop, s.files->writer_of(database), known->version(), operations};
    if (const auto written = co_await s.until_durable(batch); !written)
      co_return fail(written.error());
    if (!batch.is_stale()) {
      batch.tell(s.counts, to);
      co_return {};
    }
    const auto refreshed = co_await s.refresh();
    if (!refreshed) co_return refreshed;
  }
  for (std::size_t i = 0; i < operations.size(); ++i)
    to.failed(i, {.kind = failure_kind::schema_changed, .message = schema_has_changed});
  co_return {};
}

borrowing_task<result<bool>> engine::query(const query_request& request, query_sink& to) {
  if (!state_->schema->has(request.database))
    if (const auto looked = co_await after_miss(); !looked) co_return fail(looked.error());
  if (!state_->schema->has(request.database)) {
    const auto* const refused = state_->schema->refused(request.database);
    if (refused == nullptr) co_return fail(errc::not_found);
    state_->counts.failed(refused->why);
    to.failed({.kind = refused->why, .message = refused->message});
    co_return false;
  }
  co_return co_await state_->queries.run(*state_->files, request, to);
}

borrowing_task<result<std::string>> engine::scan(const scan_request& request, scan_sink& to) {
  state& s = *state_;
  scratch room;
  auto place = place_of(request, room);
  if (!place) co_return fail(place.error());
  if (!request.from->definition().has_distinct_rows) {
    // By the schema alone, which may be another by now.
    if (const auto looked = co_await after_miss(); !looked) co_return fail(looked.error());
    if (s.schema->current(*request.from) == nullptr)
      to.failed({.kind = failure_kind::schema_changed, .message = schema_has_changed});
    else
      to.failed({.kind = failure_kind::invalid, .message = rows_are_alike});
    co_return std::string{};
  }
  const auto in_line = s.scans.enter();
  if (!in_line) co_return fail(in_line.error());
  const environment& env = co_await this_task::environment();
  scan_pace pace;
  if (s.loop.has_threads()) pace = {.until = env.until.when(), .turn = s.options.scan_turn};
  std::optional<file_identity> file;  // of the rows so far
  std::size_t bytes_max = cold_batch::bytes_max_at_first;
  for (std::size_t left = request.limit, refreshes = 0; left > 0;) {
    memory_reservation memory;
    if (bytes_max != cold_batch::bytes_max_at_first) {
      auto given = co_await s.reserve(cold_batch::memory_for(bytes_max, request.columns.size()), 0);
      if (!given && given.error() == errc::limit_exceeded) {
        s.counts.failed(failure_kind::too_large);
        to.failed({.kind = failure_kind::too_large, .message = row_is_too_large});
        co_return std::string{};
      }
      if (!given && given.error() == errc::exhausted && left != request.limit) break;
      if (!given) co_return fail(given.error());
      memory = std::move(*given);
    }
    const table* const now = s.schema->current(*request.from);
    if (now == nullptr || refreshes > refreshes_max) {
      to.failed({.kind = failure_kind::schema_changed, .message = schema_has_changed});
      co_return std::string{};
    }
    scan_slice slice{*s.files, s.database_of(*now)->version(), request, *place, left, bytes_max,
                     pace};
    const stop_callback on_stop{env.stop, [&slice] { slice.stop(); }};
    if (const auto run = co_await s.scans.run(slice); !run) co_return fail(run.error());
    if (file && slice.file() && *slice.file() != *file) {
      to.failed({.kind = failure_kind::schema_changed, .message = file_was_replaced});
      co_return std::string{};
    }
    if (slice.is_stale()) {
      ++refreshes;
      if (const auto fresh = co_await s.refresh(); !fresh) co_return fail(fresh.error());
      continue;
    }
    // Of a row with several long values each try sees one more.
    const bool is_too_long = slice.wanted_bytes() != 0;
    bytes_max = is_too_long ? std::max(slice.wanted_bytes(), bytes_max + bytes_max / 2)
                            : cold_batch::bytes_max_at_first;
    if (is_too_long) continue;
    if (slice.rows() != 0) file = slice.file();
    std::size_t rows = 0;
    while (rows != slice.rows()) {
      rows = slice.tell(to, rows, memory);
      if (to.is_full()) break;
      if (rows != slice.rows()) co_await next_turn(s.loop);
    }
    left -= rows;
    s.counts.scan_slices.add();
    s.counts.scan_rows.add(rows);
    if (slice.is_late()) co_return fail(errc::timed_out);
    if (slice.is_stopped()) co_return fail(errc::cancelled);
    const bool is_all = rows == slice.rows();
    if (is_all && !slice.fault().message.empty()) {
      s.counts.failed(slice.fault().kind);
      to.failed(slice.fault());
    }
    if (is_all && !slice.has_more()) co_return std::string{};
    pace.by_steps = pace.by_steps || slice.is_long();
    // What the next slice goes on from replaces what this one went on from.
    scratch next;
    const std::span<const value> last = slice.last_place(rows, next);
    if (!last.empty()) {
      *place = last;
      room = std::move(next);
    }
    if (to.is_full()) break;
  }
  co_return request.limit == 0 ? std::string{request.continuation} : scan_token(request, *place);
}

std::string engine::folder() const {
  return state_->files == nullptr ? std::string{} : state_->files->directory();
}

borrowing_task<std::expected<file_swap, std::string>> engine::swap(const swap_request& request) {
  state& s = *state_;
  // What this shard still has open of a state that is over is not to be waited for.
  if (const auto refreshed = co_await s.refresh(); !refreshed)
    co_return std::unexpected{std::string{refreshed.error().message()}};
  if (const auto* const refused = s.schema->refused(request.database))
    co_return std::unexpected{refused->message};
  if (!s.schema->has(request.database))
    co_return std::unexpected{weft::format("there is no database {} here", request.database)};
  std::vector<table_definition> before;
  for (const auto& each : s.schema->tables())
    if (each->database() == request.database) before.push_back(each->definition());
  database_swap with{request.file, s.files->path_of(request.database)};
  const environment& env = co_await this_task::environment();
  const stop_callback on_stop{env.stop, [&with] { with.stop(); }};
  std::expected<file_swap, std::string> made;
  const auto ran = co_await blocking([&] { made = s.files->swap(request, before, with); });
  if (!ran) co_return std::unexpected{std::string{ran.error().message()}};
  // Its shards look by themselves; who is told finds the new rows at least here.
  if (made) static_cast<void>(co_await s.refresh());
  co_return made;
}

}  // namespace weft::store::sqlite
