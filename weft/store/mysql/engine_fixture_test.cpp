#include <weft/store/mysql/engine_fixture_test.hpp>

#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace weft::store::mysql {

void engine_fixture::SetUp() {
  mysql_fixture::SetUp();
  if (IsSkipped()) return;
  password_file_ = (std::filesystem::temp_directory_path() / "weft-password-XXXXXX").string();
  const int file = ::mkstemp(password_file_.data());
  ASSERT_NE(file, -1);
  const std::string content = mariadb_server::account().password + "\n";
  EXPECT_EQ(::write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  ::close(file);
  options_.server = server_.unix_socket().to_string();
  options_.user = mariadb_server::account().user;
  options_.password_file = password_file_;
  options_.databases = {std::string{database}};
  if (std::getenv("WEFT_MYSQL_TLS") != nullptr)
    options_.tls = {.mode = tls_mode::verify_ca, .ca = server_.authority().ca()};
}

void engine_fixture::TearDown() {
  if (!password_file_.empty()) ::unlink(password_file_.c_str());
  mysql_fixture::TearDown();
}

bool engine_fixture::prepare(std::initializer_list<std::string_view> statements) {
  bool is_done = true;
  run([&](connection& server) -> task<void> {
    for (const std::string_view each : {std::string_view{"DROP DATABASE IF EXISTS engine_test"},
                                        std::string_view{"CREATE DATABASE engine_test CHARACTER "
                                                         "SET utf8mb4"},
                                        std::string_view{"USE engine_test"}})
      is_done = (co_await server.run(each)).has_value() && is_done;
    for (const std::string_view each : statements) {
      const auto ran = co_await server.run(each);
      EXPECT_TRUE(ran) << each << ": " << server.last_failure().message;
      is_done = is_done && ran;
    }
  });
  return is_done;
}

task<std::string> engine_fixture::sql(std::string_view text) {
  connection other{*loop_};
  auto account = mariadb_server::account();
  account.database = database;
  const auto opened = co_await other.open(server_.unix_socket(), account);
  EXPECT_TRUE(opened) << other.last_failure().message;
  if (!opened) co_return "no connection";
  co_return co_await ask(other, text);
}

std::int64_t engine_fixture::counted(std::string_view series,
                                     std::initializer_list<telemetry::label> labels) const {
  const telemetry::snapshot seen = metrics_->read();
  const telemetry::series* const found = seen.find(series, labels);
  return found == nullptr ? -1 : found->value;
}

task<std::int64_t> engine_fixture::statements_of_server() {
  // Those that this asks itself are the same each time.
  const std::string text = co_await sql(
      "SELECT CAST(SUM(variable_value) AS INT) FROM information_schema.global_status WHERE "
      "variable_name IN ('COM_STMT_EXECUTE', 'COM_STMT_PREPARE', 'COM_BEGIN', 'COM_COMMIT', "
      "'COM_SELECT')");
  co_return std::strtoll(text.c_str(), nullptr, 10);
}

const table& engine_fixture::find(engine& in, std::string_view name) {
  const table* const found = in.schema()->find(database, name);
  if (found == nullptr) std::abort();
  return *found;
}

task<std::string> engine_fixture::look_up(engine& in, std::string_view from,
                                          std::vector<std::vector<value>> keys,
                                          std::vector<std::string_view> names) {
  const catalog_ref schema = in.schema();
  const table* const found = schema->find(database, from);
  if (found == nullptr) co_return "no table";
  std::vector<column_position> columns;
  for (const std::string_view each : names) columns.push_back(found->find(each).value());
  if (names.empty()) columns.assign(found->values().begin(), found->values().end());
  std::vector<key_read> operations;
  for (const std::vector<value>& key : keys) operations.push_back({found, key, columns});
  noted_reads sink{operations};
  const auto read = co_await in.read(operations, sink);
  co_return read ? sink.text : read.error().message();
}

}  // namespace weft::store::mysql
