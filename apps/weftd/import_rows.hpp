// Puts the rows of a file into a table, while a program runs for that.
//
// Contract: a service, the only one of its program, which it has end. Rows go in batches, each
// durable before the next; a row that is wrong is told on stderr by its line and left out. Killed
// at any moment and begun anew, it counts each row as if it had not been: where rows that are there
// are refused, it looks before each batch which they are, and notes that durably before it writes.
// The job's outcome is good once the program has ended.
//
//   auto job = std::make_shared<import_job>(asked);
//   job->finished = [&app] { app.request_stop(); };
//   app.add<row_import>({.job = job}).single();
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>

#include <apps/weftd/import_batch.hpp>
#include <apps/weftd/import_state.hpp>
#include <apps/weftd/progress_line.hpp>
#include <apps/weftd/row_file.hpp>

namespace weft {
class lifetime;
}

namespace weft::store {
class engine;
}

namespace weftd {

enum class import_end : std::uint8_t {
  interrupted,  // asked to end: the same command goes on
  failed,
  done,
};

struct import_job {
  // What is wanted.
  row_source source;
  std::string database;
  std::string table;
  bool replaces = true;           // rows that are there; else they are wrong
  std::uint64_t wrong_max = 100;  // of all runs of the import together
  std::string state_path{};       // empty: it cannot be gone on with
  std::string how{};              // what must be the same for it to be gone on with
  std::function<void()> finished{};

  // What has become of it.
  import_end end = import_end::interrupted;
  std::string why{};  // it failed
  std::uint64_t rows = 0;
  std::uint64_t wrong = 0;
  std::uint64_t passed_over = 0;  // by a trigger, without an error
  double seconds = 0;
};

struct row_import_options {
  std::shared_ptr<import_job> job;
};

class row_import {
 public:
  using options = row_import_options;

  row_import(row_import_options options, weft::store::engine& engine, weft::lifetime& own);

  void start();

 private:
  weft::task<void> run();
  /// What failed; nothing: it has come to its end, or was asked to.
  weft::task<std::optional<std::string>> import_all();
  weft::task<std::optional<std::string>> import_rows(row_file& file, const weft::store::table& to);
  /// Whether all of the batch that is right is durable; else the program was asked to end.
  weft::task<std::expected<bool, std::string>> write(import_batch& batch);
  /// Nothing: nobody has begun.
  [[nodiscard]] std::expected<std::optional<import_state>, std::string> state_before() const;
  void go_on_from(const import_state& before);
  [[nodiscard]] import_state state_of(const row_file& file) const;
  /// All before `file`'s place is done.
  [[nodiscard]] std::optional<std::string> save(const row_file& file);
  /// Leaves out the rows whose keys are there, and notes that it will write the others.
  weft::task<std::optional<std::string>> refuse_known(import_batch& batch);
  [[nodiscard]] std::optional<std::string> save_attempt() const;
  [[nodiscard]] std::string too_many_wrong() const;
  void tell_wrong(std::uint64_t line, const std::string& why);
  [[nodiscard]] bool has_too_many_wrong() const noexcept { return job_->wrong > job_->wrong_max; }

  std::shared_ptr<import_job> job_;
  weft::store::engine& engine_;
  weft::lifetime& own_;
  import_state done_{};    // as it was saved, or would be, before the batch
  import_state before_{};  // of the import that was interrupted: what it attempted
  progress_line progress_{"rows"};
};

}  // namespace weftd
