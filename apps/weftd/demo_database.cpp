#include <apps/weftd/demo_database.hpp>

#include <filesystem>
#include <memory>
#include <system_error>

#include <sqlite3.h>

#include <weft/base/format.hpp>
#include <weft/store/sqlite/library.hpp>

#include <apps/weftd/own_file.hpp>

namespace weftd {
namespace {

namespace fs = std::filesystem;

constexpr const char* content = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;

CREATE TABLE users(
  id INTEGER PRIMARY KEY, name VARCHAR(50) NOT NULL, email VARCHAR(100), active TINYINT NOT NULL,
  balance DECIMAL(10,2) NOT NULL, score DOUBLE, born DATE, seen DATETIME(3));
WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 50000)
INSERT INTO users SELECT i,
  (SELECT value FROM json_each(
     '["Ada","Alan","Barbara","Edsger","Frances","Grace","Ken","Leslie","Margaret","Tim"]')
     WHERE key = i * 7 % 10) || ' ' || char(65 + i % 26) || '.',
  CASE i % 10 WHEN 0 THEN NULL ELSE 'user' || i || '@example.com' END,
  i % 3 != 0,
  round((i * 7919 % 1000000) / 100.0, 2),
  (i * 104729 % 1000) / 7.0,
  date('1950-01-01', (i * 31 % 20000) || ' days'),
  strftime('%Y-%m-%d %H:%M:%f', '2026-01-01', (i * 613 % 20000000) || ' seconds')
FROM numbers;

CREATE TABLE stock(
  warehouse CHAR(3) NOT NULL, article INT UNSIGNED NOT NULL, pieces INT UNSIGNED NOT NULL,
  price DECIMAL(8,2) NOT NULL, weight FLOAT, PRIMARY KEY(warehouse, article)) WITHOUT ROWID;
WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 29999)
INSERT INTO stock SELECT
  (SELECT value FROM json_each('["AMS","BER","LIS","OSL","ROM","VIE"]') WHERE key = i % 6),
  i / 6 + 1, i * 37 % 1000, round((i * 271 % 90000 + 99) / 100.0, 2), (i % 500 + 1) / 8.0
FROM numbers;

CREATE TABLE readings(
  sensor BINARY(2) NOT NULL, at TIMESTAMP NOT NULL, celsius DECIMAL(5,2), flags BIT(8),
  note TEXT, PRIMARY KEY(sensor, at)) WITHOUT ROWID;
WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 19999)
INSERT INTO readings SELECT
  CAST(char(65 + i % 20) || char(48 + i % 10) AS BLOB),
  strftime('%Y-%m-%d %H:%M:%S', '2026-01-01', (i / 20 * 60) || ' seconds'),
  round(15 + (i * 17 % 1500) / 100.0, 2), i % 256,
  CASE WHEN i % 50 = 0 THEN 'calibrated' END
FROM numbers;

COMMIT;
PRAGMA journal_mode = WAL;
)";

struct closer {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
};

/// nothing: it is written.
std::string write_content(const std::string& path) {
  weft::store::sqlite::prepare_library();
  sqlite3* opened = nullptr;
  const int status = sqlite3_open(path.c_str(), &opened);
  const std::unique_ptr<sqlite3, closer> database{opened};
  if (status == SQLITE_OK && sqlite3_exec(opened, content, nullptr, nullptr, nullptr) == SQLITE_OK)
    return {};
  return sqlite3_errmsg(opened);
}

std::unexpected<std::string> not_made(const fs::path& where, std::string_view why) {
  return std::unexpected{
      weft::format("the demo database {} cannot be made: {}", where.string(), why)};
}

}  // namespace

std::expected<bool, std::string> make_demo_database(const std::string& directory) {
  const fs::path wanted = fs::path{directory} / "demo.db";
  std::error_code why;
  if (fs::exists(wanted, why)) return false;
  fs::create_directories(directory, why);
  if (why) return not_made(wanted, why.message());
  if (const auto made = make_part(wanted.string()); !made) return not_made(wanted, made.error());
  const fs::path half = fs::path{directory} / "demo.db.part";
  if (const std::string fault = write_content(half.string()); !fault.empty())
    return not_made(wanted, fault);
  fs::rename(half, wanted, why);
  if (why) return not_made(wanted, why.message());
  return true;
}

}  // namespace weftd
