#include <apps/weftd/import_command.hpp>

#include <cstdio>
#include <expected>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/service/application.hpp>

#include <apps/weftd/engine_choice.hpp>
#include <apps/weftd/import_rows.hpp>
#include <apps/weftd/known_table.hpp>
#include <apps/weftd/terminal_line.hpp>

namespace weftd {
namespace {

constexpr int exit_wrong = 1;
constexpr int exit_interrupted = 130;  // as a shell has it for SIGINT

constexpr const char* about =
    "Puts the rows of a file into a table: CSV (RFC 4180), whose first line names the columns, or "
    "a\n"
    "JSON object a line. Rows with a key that is there already are replaced. What is wrong with a "
    "row\n"
    "is told with its line, and the others are imported.";

constexpr const char* examples =
    "Examples:\n"
    "  weftd import orders.csv --data /var/lib/shop --table shop.orders\n"
    "  weftd import orders.jsonl --data /var/lib/shop --table shop.orders --if-exists refuse\n"
    "  weftd import orders.csv --mysql mysql://shop@db.example/shop --table shop.orders\n"
    "  zcat orders.csv.gz | weftd import - --format csv --data /var/lib/shop --table "
    "shop.orders\n\n"
    "Values are those of the API: days and times as text, bytes in Base64. An empty field of CSV "
    "is\n"
    "NULL, and \"\" an empty text. Interrupted, by Ctrl-C or a power cut, the same command goes on "
    "where\n"
    "it was. The server may run meanwhile.\n"
    "Exit code: 0 if all rows are in the table, 1 if some are not, 2 for a wrong command line, "
    "130\n"
    "if it was interrupted.";

struct import_words {
  std::string file;
  std::string table;
  std::string format = "auto";
  std::string separator = ",";
  std::string if_exists = "replace";
  std::string state = "auto";
  unsigned wrong_max = 100;
};

void offer(weft::command_line& cli, import_words& said) {
  cli.argument("FILE", said.file, "What to import; -: standard input");
  cli.option("--table", said.table, "Where to", "DATABASE.TABLE");
  cli.choice("--format", said.format, {"auto", "csv", "jsonl"},
             "Of the file; auto: as its name ends, .csv, .tsv, .jsonl or .ndjson");
  cli.option("--separator", said.separator, "Of CSV: one character, or tab", "CHARACTER");
  cli.choice("--if-exists", said.if_exists, {"replace", "refuse"},
             "What becomes of a row whose key is there already");
  cli.option("--wrong-max", said.wrong_max,
             "Rows that may be wrong, over all runs of the import, before it gives up", "N");
  cli.option("--state", said.state,
             "Where to keep how far it has come; auto: FILE.import; none: nowhere", "FILE");
  cli.epilogue(examples);
}

/// Nothing: its name does not say.
std::optional<row_format> format_of(const import_words& said) {
  const std::string_view name = said.file;
  const auto is = [&](std::string_view format, std::initializer_list<std::string_view> ends) {
    if (said.format != "auto") return said.format == format;
    for (const std::string_view each : ends)
      if (name.ends_with(each)) return true;
    return false;
  };
  if (is("csv", {".csv", ".tsv"})) return row_format::csv;
  if (is("jsonl", {".jsonl", ".ndjson"})) return row_format::jsonl;
  return std::nullopt;
}

/// NUL: it is none.
char separator_of(const import_words& said) {
  const bool is_tab = said.separator == "tab" || said.separator == "\\t" ||
                      (said.separator == "," && said.file.ends_with(".tsv"));
  if (is_tab) return '\t';
  const bool is_one = said.separator.size() == 1 && said.separator[0] != '"' &&
                      said.separator[0] != '\n' && said.separator[0] != '\r';
  return is_one ? said.separator[0] : '\0';
}

std::string state_path_of(const import_words& said) {
  if (said.state == "none" || said.file == "-") return {};
  return said.state == "auto" ? said.file + ".import" : said.state;
}

/// Else what is wrong with the words.
std::expected<import_job, std::string> job_of(const import_words& said) {
  const auto format = format_of(said);
  if (!format)
    return std::unexpected{
        weft::format("what is in {}? --format csv, or --format jsonl", said.file)};
  const char separator = separator_of(said);
  if (separator == '\0')
    return std::unexpected{
        weft::format("--separator: '{}' is not one character, or tab", said.separator)};
  const auto table = parse_table_name(said.table);
  if (!table)
    return std::unexpected{
        weft::format("--table: '{}' is no DATABASE.TABLE, as shop.orders", said.table)};
  return import_job{.source = {.path = said.file, .format = *format, .separator = separator},
                    .database = table->database,
                    .table = table->table,
                    .replaces = said.if_exists == "replace",
                    .wrong_max = said.wrong_max,
                    .state_path = state_path_of(said)};
}

/// What must be the same for an import to be gone on with.
std::string identity_of(const import_words& said, const std::string& of_database) {
  return weft::format("{}, {}, {}, {}", of_database, said.format, said.separator, said.if_exists);
}

int tell(const import_job& job) {
  const std::string count = weft::format("{} row{} into {}.{}", grouped(job.rows),
                                         job.rows == 1 ? "" : "s", job.database, job.table);
  if (job.end == import_end::failed) {
    print_line(stderr, "weftd import: " + job.why);
    if (job.rows != 0) print_line(stderr, count + " imported before that");
    return exit_wrong;
  }
  if (job.end == import_end::interrupted) {
    print_line(stderr, weft::format("interrupted: {} imported; {}", count,
                                    job.state_path.empty() ? "it cannot be gone on with"
                                                           : "the same command goes on"));
    return exit_interrupted;
  }
  print_line(stdout, weft::format("imported {} in {:.1f} s", count, job.seconds));
  if (job.passed_over != 0)
    std::fprintf(stderr, "%s rows were passed over by a trigger, and are not in the table\n",
                 grouped(job.passed_over).c_str());
  if (job.wrong != 0)
    std::fprintf(stderr, "%s rows were wrong, and are not in the table\n",
                 grouped(job.wrong).c_str());
  return job.wrong + job.passed_over == 0 ? 0 : exit_wrong;
}

}  // namespace

int import_file(int argc, char** argv) {
  weft::application app{argc,
                        argv,
                        {.name = "weftd import",
                         .about = about,
                         .version = WEFT_VERSION,
                         .log_level = weft::log::level::warning}};
  import_words said;
  offer(app.options(), said);
  engine_choice rows{app, {.directory = ""}};
  if (const auto ended = app.parse()) return *ended;
  auto asked = job_of(said);
  if (!asked) {
    print_line(stderr, "weftd import: " + asked.error());
    return weft::command_line::exit_usage;
  }
  const auto job = std::make_shared<import_job>(std::move(*asked));
  app.check_options([&] {
    const std::string database = rows.identity_of(job->database);
    job->how = identity_of(said, database);
    auto faults = rows.faults();
    if (faults.empty() && database.empty())
      faults.emplace_back("--data FOLDER, or --mysql SERVER: where are the databases?");
    return faults;
  });
  job->finished = [&app] { app.request_stop(); };
  rows.add_engines();
  app.add<row_import>({.job = job}).single();
  if (const int code = app.run()) return code;
  return tell(*job);
}

}  // namespace weftd
