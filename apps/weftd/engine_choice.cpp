#include <apps/weftd/engine_choice.hpp>

#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/service/application.hpp>
#include <weft/store/sqlite/engine.hpp>
#ifdef WEFTD_HAS_MYSQL
#include <weft/store/mysql/engine.hpp>
#include <weft/store/mysql/server_url.hpp>
#endif

#include <apps/weftd/data_option.hpp>

namespace weftd {

namespace store = weft::store;

namespace {

std::string identity_in(const std::string& directory, const std::string& database) {
  if (directory.empty()) return {};
  struct stat facts{};
  const std::string path = weft::format("{}/{}.db", directory, database);
  if (::stat(path.c_str(), &facts) != 0) facts = {};
  return weft::format("file {} of device {}", std::uint64_t{facts.st_ino},
                      std::uint64_t{facts.st_dev});
}

}  // namespace

#ifdef WEFTD_HAS_MYSQL

engine_choice::engine_choice(weft::application& app, store::sqlite::engine_options folder)
    : app_{app}, folder_{std::move(folder)} {
  offer_data_folder(app.options(), folder_);
  app.options().option("--mysql", server_.server,
                       "Server that has the databases, such as mysql://shop@db.example:3306/shop",
                       "SERVER");
  app.options().stands_for("--mysql", "store.mysql.engine.server");
  app.options().option("--mysql-replicas", server_.replicas,
                       "Servers that follow it, to read from: two.example,three.example",
                       "SERVERS");
  app.options().stands_for("--mysql-replicas", "store.mysql.engine.replicas");
}

void engine_choice::add_engines() {
  const auto has_server = [&app = app_] {
    return !app.options_for<store::mysql::engine>().server.empty();
  };
  app_.add<store::sqlite::engine>(folder_)
      .as<store::engine, store::query_engine, store::file_swapper>()
      .when([has_server] { return !has_server(); });
  app_.add<store::mysql::engine>(server_).as<store::engine, store::query_engine>().when(has_server);
}

std::string engine_choice::identity_of(const std::string& database) const {
  const std::string& server = app_.options_for<store::mysql::engine>().server;
  if (!server.empty()) return weft::format("server {}", server);
  return identity_in(app_.options_for<store::sqlite::engine>().directory, database);
}

std::vector<std::string> engine_choice::faults() const {
  std::vector<std::string> faults;
  const auto& server = app_.options_for<store::mysql::engine>();
  if (server.server.empty()) return faults;
  const auto given = store::mysql::read_server_url(server.server);
  if (given && given->user.empty() && server.user.empty())
    faults.emplace_back(
        "--mysql: the server's user is missing: say mysql://USER@HOST, or store.mysql.engine.user");
  if (!app_.options_for<store::sqlite::engine>().directory.empty())
    faults.emplace_back("--data, --mysql: the rows are in a folder or on a server, not in both");
  return faults;
}

#else

engine_choice::engine_choice(weft::application& app, store::sqlite::engine_options folder)
    : app_{app}, folder_{std::move(folder)} {
  offer_data_folder(app.options(), folder_);
  static std::string unused;
  app.options().option("--mysql", unused, "Not in this build", "SERVER", [](const std::string&) {
    return std::string{
        "this weftd was built without MariaDB Connector/C: install "
        "libmariadb-dev and build it again"};
  });
}

void engine_choice::add_engines() {
  app_.add<store::sqlite::engine>(folder_)
      .as<store::engine, store::query_engine, store::file_swapper>();
}

std::string engine_choice::identity_of(const std::string& database) const {
  return identity_in(app_.options_for<store::sqlite::engine>().directory, database);
}

std::vector<std::string> engine_choice::faults() const { return {}; }

#endif

}  // namespace weftd
