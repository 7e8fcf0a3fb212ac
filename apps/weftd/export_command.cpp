#include <apps/weftd/export_command.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/service/application.hpp>

#include <apps/weftd/engine_choice.hpp>
#include <apps/weftd/export_rows.hpp>
#include <apps/weftd/known_table.hpp>
#include <apps/weftd/own_file.hpp>
#include <apps/weftd/terminal_line.hpp>

namespace weftd {
namespace {

namespace fs = std::filesystem;

constexpr int exit_failed = 1;
constexpr int exit_interrupted = 130;  // as a shell has it for SIGINT

constexpr const char* about =
    "Writes the rows of a table as CSV (RFC 4180), or as a JSON object a line, in the order of "
    "their\n"
    "keys; weftd import reads either.";

constexpr const char* examples =
    "Examples:\n"
    "  weftd export --data /var/lib/shop --table shop.orders > orders.csv\n"
    "  weftd export --data /var/lib/shop --table shop.orders --output orders.jsonl\n"
    "  weftd export --mysql mysql://shop@db.example/shop --table shop.orders > orders.csv\n\n"
    "The file that --output names is there once all rows are in it. The server may run meanwhile; "
    "the\n"
    "rows are then no snapshot of one moment.\n"
    "Exit code: 0 if all rows are written, 1 if not, 2 for a wrong command line, 130 if it was\n"
    "interrupted.";

struct export_words {
  std::string table;
  std::string format = "auto";
  std::string output = "-";
};

void offer(weft::command_line& cli, export_words& said) {
  cli.option("--table", said.table, "Which rows", "DATABASE.TABLE");
  cli.choice("--format", said.format, {"auto", "csv", "jsonl"},
             "Of the text; auto: as the file's name ends, else csv");
  cli.option("--output", said.output, "Where to; -: standard output", "FILE");
  cli.epilogue(examples);
}

row_format format_of(const export_words& said) {
  const bool is_named = said.output.ends_with(".jsonl") || said.output.ends_with(".ndjson");
  const bool is_json = said.format == "auto" ? is_named : said.format == "jsonl";
  return is_json ? row_format::jsonl : row_format::csv;
}

/// A file that appears under its name when it is whole; or standard output, and what else is no
/// file but takes bytes.
class export_output {
 public:
  explicit export_output(std::string path) {
    if (path == "-") {
      stream_ = stdout;
      return;
    }
    std::error_code ignored;
    const fs::file_status there = fs::status(path, ignored);
    if (fs::exists(there) && !fs::is_regular_file(there)) {
      other_.reset(std::fopen(path.c_str(), "wbe"));
      stream_ = other_.get();
      if (stream_ == nullptr)
        why_ =
            weft::format("{} cannot be written: {}", path, std::generic_category().message(errno));
      return;
    }
    if (fs::exists(there)) path = fs::canonical(path, ignored).string();
    auto made = new_file::create(std::move(path));
    if (!made) {
      why_ = std::move(made.error());
      return;
    }
    file_.emplace(std::move(*made));
    stream_ = file_->stream();
  }

  /// nullptr: it cannot be written, which why() says more of.
  [[nodiscard]] std::FILE* file() const noexcept { return stream_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// Empty: it is whole. Else why it is not.
  [[nodiscard]] std::string finish() {
    if (file_) {
      const auto finished = file_->finish(durable::no);
      return finished ? std::string{} : finished.error();
    }
    if (other_ == nullptr || std::fclose(other_.release()) == 0) return {};
    return std::generic_category().message(errno);
  }

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };

  std::optional<new_file> file_;
  std::unique_ptr<std::FILE, closer> other_;
  std::FILE* stream_ = nullptr;
  std::string why_;
};

int complain(const std::string& why) {
  print_line(stderr, "weftd export: " + why);
  return exit_failed;
}

int finish(const export_job& job, export_output& output) {
  if (!job.why.empty()) return complain(job.why);
  const std::string count = weft::format("{} row{}", grouped(job.rows), job.rows == 1 ? "" : "s");
  if (!job.is_done) {
    print_line(stderr, "interrupted after " + count);
    return exit_interrupted;
  }
  if (const std::string why = output.finish(); !why.empty()) return complain(why);
  print_line(stderr, weft::format("exported {} of {}.{} in {:.1f} s", count, job.database,
                                  job.table, job.seconds));
  return 0;
}

}  // namespace

int export_table(int argc, char** argv) {
  weft::application app{argc,
                        argv,
                        {.name = "weftd export",
                         .about = about,
                         .version = WEFT_VERSION,
                         .log_level = weft::log::level::warning}};
  export_words said;
  offer(app.options(), said);
  engine_choice rows{app, {.directory = ""}};
  if (const auto ended = app.parse()) return *ended;
  const auto table = parse_table_name(said.table);
  if (!table) {
    complain(weft::format("--table: '{}' is no DATABASE.TABLE, as shop.orders", said.table));
    return weft::command_line::exit_usage;
  }
  export_output output{said.output};
  if (output.file() == nullptr) return complain(output.why());
  const auto job = std::make_shared<export_job>(export_job{.database = table->database,
                                                           .table = table->table,
                                                           .format = format_of(said),
                                                           .to = output.file()});
  job->finished = [&app] { app.request_stop(); };
  app.check_options([&rows] { return rows.faults(); });
  rows.add_engines();
  app.add<row_export>({.job = job}).single();
  if (const int code = app.run()) return code;
  return finish(*job, output);
}

}  // namespace weftd
