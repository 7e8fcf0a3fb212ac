// Writes the rows of a table to a file, while a program runs for that.
//
// Contract: a service, the only one of its program, which it has end. Rows come in the order of the
// primary key, each as of a moment after the start: it is no snapshot of a table that is written to
// meanwhile. All are of one file: if the database's is replaced meanwhile, the export fails. The
// job's outcome is good once the program has ended.
//
//   auto job = std::make_shared<export_job>(asked);
//   job->finished = [&app] { app.request_stop(); };
//   app.add<row_export>({.job = job}).single();
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/service/needs.hpp>
#include <weft/store/sqlite/open_files.hpp>

#include <apps/weftd/progress_line.hpp>
#include <apps/weftd/row_file.hpp>

namespace weft {
class lifetime;
}

namespace weft::store {
class engine;
class file_swapper;
class table;
}  // namespace weft::store

namespace weftd {

struct export_job {
  // What is wanted.
  std::string database;
  std::string table;
  row_format format = row_format::csv;
  std::FILE* to = stdout;
  std::function<void()> finished{};

  // What has become of it.
  bool is_done = false;
  std::string why{};  // it failed; empty: it did not
  std::uint64_t rows = 0;
  double seconds = 0;
};

struct row_export_options {
  std::shared_ptr<export_job> job;
};

class row_export {
 public:
  using options = row_export_options;

  row_export(row_export_options options, weft::store::engine& engine, weft::lifetime& own,
             weft::maybe<weft::store::file_swapper> files);

  void start();

 private:
  weft::task<void> run();
  /// What failed; nothing: it is done, or was asked to end.
  weft::task<std::optional<std::string>> export_all();
  weft::task<std::optional<std::string>> export_rows(const weft::store::table& from);

  /// Of the database; nothing: its engine has no files, or none is there.
  [[nodiscard]] std::optional<weft::store::sqlite::file_identity> file() const;

  std::shared_ptr<export_job> job_;
  weft::store::engine& engine_;
  weft::maybe<weft::store::file_swapper> files_;
  weft::lifetime& own_;
  progress_line progress_{"rows"};
};

}  // namespace weftd
