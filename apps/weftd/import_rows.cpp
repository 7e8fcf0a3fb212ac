#include <apps/weftd/import_rows.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <ranges>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/store/engine.hpp>

#include <apps/weftd/known_table.hpp>
#include <apps/weftd/terminal_line.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

/// The first column of CSV that the table does not have.
std::optional<std::string> unknown_column(const row_file& file, const store::table& in) {
  for (const std::string& each : file.names())
    if (!in.find(each))
      return weft::format("{} has no column '{}', which the first line of the file names",
                          in.name(), each);
  return std::nullopt;
}

bool is_of(const import_state& before, const import_state& now) {
  return before.table == now.table && before.file_bytes == now.file_bytes &&
         before.file_changed_ns == now.file_changed_ns && before.how == now.how &&
         before.offset_bytes <= now.file_bytes;
}

/// Which rows of a batch are in the table already.
class known_rows final : public store::read_sink {
 public:
  explicit known_rows(std::size_t size) : is_there_(size, false) {}

  [[nodiscard]] bool is_there(std::size_t at) const { return is_there_[at]; }
  [[nodiscard]] std::optional<std::string>& failure() noexcept { return failure_; }

 private:
  void row(std::size_t at, std::span<const store::value>) override { is_there_[at] = true; }
  void missing(std::size_t) override {}
  void failed(std::size_t, const store::failure& why) override { failure_ = why.message; }

  std::vector<bool> is_there_;
  std::optional<std::string> failure_;
};

/// Whether the others may be written without one.
bool is_of_a_row(const import_batch::cause& why) noexcept {
  using enum store::failure_kind;
  return why.kind == duplicate_key || why.kind == constraint ||
         (why.kind == other && !why.is_of_all);
}

}  // namespace

row_import::row_import(row_import_options options, store::engine& engine, weft::lifetime& own)
    : job_{std::move(options.job)}, engine_{engine}, own_{own} {}

void row_import::start() { own_.spawn(run()); }

weft::task<void> row_import::run() {
  auto fault = co_await import_all();
  progress_.clear();
  job_->seconds = std::chrono::duration<double>{progress_.elapsed()}.count();
  if (fault) {
    job_->end = import_end::failed;
    job_->why = std::move(*fault);
  }
  job_->finished();
}

weft::task<std::optional<std::string>> row_import::import_all() {
  const store::catalog_ref schema = engine_.schema();
  const auto to = known_table(*schema, job_->database, job_->table);
  if (!to) co_return to.error();
  const auto before = state_before();
  if (!before) co_return before.error();
  if (*before && !job_->replaces && !(*before)->attempted_line)
    co_return weft::format(
        "{} does not say which rows were refused, since another version of weftd has written it: "
        "remove it to begin anew",
        job_->state_path);
  if (*before) go_on_from(**before);
  auto file = row_file::open(job_->source);
  if (!file) co_return file.error();
  if (*before && !is_of(**before, state_of(*file)))
    co_return weft::format(
        "{} says how far another content of {}, or another import of it, has come: remove it to "
        "begin anew",
        job_->state_path, job_->source.path);
  if (auto why = unknown_column(*file, **to)) co_return why;
  if (has_too_many_wrong()) co_return too_many_wrong();
  if (!file->is_regular()) job_->state_path.clear();  // it cannot be read twice
  if (auto why = save(*file)) co_return why;
  co_return co_await import_rows(*file, **to);
}

std::expected<std::optional<import_state>, std::string> row_import::state_before() const {
  if (job_->state_path.empty()) return std::nullopt;
  return read_import_state(job_->state_path);
}

void row_import::go_on_from(const import_state& before) {
  job_->source.from = {before.offset_bytes, before.line};
  job_->rows = before.rows;
  job_->wrong = before.wrong;
  job_->passed_over = before.passed_over;
  before_ = before;
  print_line(stderr, weft::format("{}: going on at line {}", job_->source.path, before.line));
}

import_state row_import::state_of(const row_file& file) const {
  import_state now{.table = weft::format("{}.{}", job_->database, job_->table),
                   .how = job_->how,
                   .file_bytes = file.size_bytes(),
                   .file_changed_ns = file.changed_ns(),
                   .offset_bytes = file.place().offset_bytes,
                   .line = file.place().line,
                   .rows = job_->rows,
                   .wrong = job_->wrong,
                   .passed_over = job_->passed_over};
  if (job_->replaces) return now;
  // What is known of lines behind that is kept: the program may be killed again before it gets
  // there.
  now.attempted_line = before_.attempted_line.value_or(0);
  now.refused_lines.emplace();
  if (before_.refused_lines)
    std::ranges::copy_if(*before_.refused_lines, std::back_inserter(*now.refused_lines),
                         [&now](std::uint64_t line) { return line >= now.line; });
  return now;
}

weft::task<std::optional<std::string>> row_import::import_rows(row_file& file,
                                                               const store::table& to) {
  const auto asked = co_await weft::this_task::environment();
  const auto how = job_->replaces ? store::write_kind::upsert : store::write_kind::insert;
  import_batch batch{to, how};
  for (row_outcome read = row_outcome::row; read != row_outcome::end;) {
    read = file.next(batch.room());
    if (read == row_outcome::failed)
      co_return weft::format("{}:{}: {}", job_->source.path, file.line(), file.fault());
    if (read == row_outcome::wrong) tell_wrong(file.line(), file.fault());
    if (read == row_outcome::row)
      if (const auto added = batch.add(file.line(), file.cells()); !added)
        tell_wrong(file.line(), added.error());
    if (!batch.is_full() && read != row_outcome::end && !has_too_many_wrong()) continue;
    const auto written = co_await write(batch);
    if (!written) co_return written.error();
    if (!*written) co_return std::nullopt;
    if (auto fault = save(file)) co_return fault;
    if (has_too_many_wrong()) co_return too_many_wrong();
    if (asked.stop.stop_requested() && read != row_outcome::end) co_return std::nullopt;
    progress_.show({job_->rows, file.place().offset_bytes, file.size_bytes()});
  }
  job_->end = import_end::done;
  std::error_code why;
  if (!job_->state_path.empty()) std::filesystem::remove(job_->state_path, why);
  co_return std::nullopt;
}

weft::task<std::optional<std::string>> row_import::refuse_known(import_batch& batch) {
  std::vector<store::key_read> asked;
  asked.reserve(batch.writes().size());
  for (const store::key_write& each : batch.writes())
    asked.push_back({each.to, each.key, each.to->key()});
  known_rows known{asked.size()};
  const auto read = co_await engine_.read(asked, known);
  if (!read) co_return weft::format("the rows could not be read: {}", read.error().message());
  if (known.failure()) co_return std::move(known.failure());
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < asked.size() && !has_too_many_wrong(); ++i) {
    const std::uint64_t line = batch.line_of(i);
    const bool was_refused =
        before_.refused_lines.has_value() && std::ranges::contains(*before_.refused_lines, line);
    if (!known.is_there(i) && !was_refused) continue;
    left_out.push_back(i);
    if (!was_refused && line <= before_.attempted_line.value_or(0)) {
      ++job_->rows;
      continue;
    }
    if (!was_refused) done_.refused_lines->push_back(line);
    tell_wrong(line, "a row with this key is there already");
  }
  if (has_too_many_wrong()) co_return too_many_wrong();
  done_.attempted_line = std::max(*done_.attempted_line, batch.line_of(asked.size() - 1));
  for (const std::size_t each : left_out | std::views::reverse) batch.drop(each);
  co_return save_attempt();
}

weft::task<std::expected<bool, std::string>> row_import::write(import_batch& batch) {
  if (!job_->replaces && !batch.writes().empty())
    if (auto fault = co_await refuse_known(batch)) co_return std::unexpected{std::move(*fault)};
  std::size_t at_once = batch.at_once();
  while (!batch.writes().empty()) {
    const auto part = batch.writes().first(std::min(at_once, batch.writes().size()));
    const auto done = co_await engine_.write(part, batch);
    if (!done && done.error() == weft::errc::cancelled) co_return false;
    if (!done)
      co_return std::unexpected{
          weft::format("the rows could not be written: {}", done.error().message())};
    const auto cause = batch.take_cause();
    if (!cause) {
      const std::size_t passed_over = batch.take_passed_over();
      job_->passed_over += passed_over;
      job_->rows += part.size() - passed_over;
      batch.drop_first(part.size());
      at_once = batch.at_once();
      continue;
    }
    if (!is_of_a_row(*cause)) co_return std::unexpected{cause->message};
    at_once = cause->is_of_all ? (part.size() + 1) / 2 : part.size();
    if (cause->is_of_all && part.size() > 1) continue;  // one of its halves has it
    const std::uint64_t line = batch.line_of(cause->operation);
    tell_wrong(line, cause->message);
    batch.drop(cause->operation);
    if (has_too_many_wrong()) co_return std::unexpected{too_many_wrong()};
    if (job_->replaces || cause->kind != store::failure_kind::duplicate_key) continue;
    // Its key is that of another row of the batch, perhaps, and there once that is written.
    done_.refused_lines->push_back(line);
    if (auto fault = save_attempt()) co_return std::unexpected{std::move(*fault)};
  }
  batch.clear();
  co_return true;
}

std::string row_import::too_many_wrong() const {
  return weft::format(
      "more than {} rows are wrong, over all runs of this import: --wrong-max says how many may be",
      job_->wrong_max);
}

std::optional<std::string> row_import::save(const row_file& file) {
  done_ = state_of(file);
  return save_attempt();
}

std::optional<std::string> row_import::save_attempt() const {
  if (job_->state_path.empty()) return std::nullopt;
  auto saved = save_import_state(job_->state_path, done_);
  return saved ? std::nullopt : std::optional{std::move(saved).error()};
}

void row_import::tell_wrong(std::uint64_t line, const std::string& why) {
  ++job_->wrong;
  progress_.clear();
  print_line(stderr, weft::format("{}:{}: {}", job_->source.path, line, why));
}

}  // namespace weftd
