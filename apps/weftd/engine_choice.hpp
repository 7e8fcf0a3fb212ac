// Where the rows are that are served: in a folder, or on a server that speaks MySQL's protocol.
//
// Contract: offers --data and --mysql, adds both engines, and lets the options choose: a server, if
// one is named, else the folder. Without MariaDB Connector/C, --mysql is an error that says so.
//
//   engine_choice rows{app, {.directory = ""}};
//   if (const auto ended = app.parse()) return *ended;
//   rows.add_engines();
#pragma once

#include <string>
#include <vector>

#include <weft/store/sqlite/engine_options.hpp>
#ifdef WEFTD_HAS_MYSQL
#include <weft/store/mysql/engine_options.hpp>
#endif

namespace weft {
class application;
}

namespace weftd {

class engine_choice {
 public:
  /// `folder`: what the program chooses for one. Both outlive the parsing of the command line.
  engine_choice(weft::application& app, weft::store::sqlite::engine_options folder);
  engine_choice(const engine_choice&) = delete;
  engine_choice& operator=(const engine_choice&) = delete;
  ~engine_choice() = default;

  /// After the command line was parsed.
  void add_engines();
  /// As of the command line.
  [[nodiscard]] const std::string& directory() const noexcept { return folder_.directory; }
  /// What tells the database from others of its name; empty: there is nowhere to look for it. Once
  /// the options are read.
  [[nodiscard]] std::string identity_of(const std::string& database) const;
  /// What is wrong with the options, a line each.
  [[nodiscard]] std::vector<std::string> faults() const;

 private:
  weft::application& app_;
  weft::store::sqlite::engine_options folder_;
#ifdef WEFTD_HAS_MYSQL
  weft::store::mysql::engine_options server_;
#endif
};

}  // namespace weftd
