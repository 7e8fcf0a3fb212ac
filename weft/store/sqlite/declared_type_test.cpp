#include <weft/store/sqlite/declared_type.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/base/format.hpp>

namespace weft::store::sqlite {
namespace {

/// "INT UNSIGNED", "VARCHAR 50", "DECIMAL 10,2", "DATETIME .3", "TEXT, makes numbers", "DATE, as
/// written"
std::string shape_of(std::string_view declared) {
  column of{.name = "x"};
  read_declared_type(declared, of);
  std::string shape{to_string(of.type)};
  if (of.length != 0) shape += weft::format(" {}", of.length);
  if (of.precision != 0) shape += weft::format(" {},{}", of.precision, of.scale);
  if (of.fraction_digits != 0) shape += weft::format(" .{}", of.fraction_digits);
  if (of.is_unsigned) shape += " UNSIGNED";
  if (of.makes_numbers) shape += ", makes numbers";
  if (of.keeps_form) shape += ", as written";
  EXPECT_TRUE(of.is_dynamic) << declared;
  return shape;
}

TEST(declared_type, is_read_as_mysql_does) {
  struct declaration {
    std::string_view declared;
    std::string_view shape;
  };
  for (const auto& [declared, shape] : std::initializer_list<declaration>{
           {"TINYINT", "TINYINT"},
           {"tinyint(1)", "TINYINT"},
           {"BOOLEAN", "TINYINT"},
           {"SMALLINT UNSIGNED", "SMALLINT UNSIGNED"},
           {"MEDIUMINT(8) unsigned zerofill", "MEDIUMINT UNSIGNED"},
           {"INT(11)", "INT"},
           {"int unsigned", "INT UNSIGNED"},
           {"UNSIGNED INT", "INT UNSIGNED"},
           {"BIGINT", "BIGINT"},
           {"BIGINT UNSIGNED", "BIGINT UNSIGNED"},
           {"UNSIGNED BIG INT", "BIGINT UNSIGNED"},
           {"INTEGER", "BIGINT"},
           {"FLOAT", "DOUBLE"},
           {"DOUBLE PRECISION", "DOUBLE"},
           {"REAL", "DOUBLE"},
           {"DECIMAL(10,2)", "DECIMAL 10,2"},
           {"decimal( 20 , 5 ) unsigned", "DECIMAL 20,5 UNSIGNED"},
           {"DECIMAL(7)", "DECIMAL 7,0"},
           {"DECIMAL(3,9)", "DECIMAL 3,3"},
           {"DECIMAL(99,70)", "DECIMAL 65,65"},
           {"NUMERIC", "DECIMAL"},
           {"CHAR", "CHAR 1"},
           {"CHAR(100)", "CHAR 100"},
           {"CHARACTER(20)", "CHAR 20"},
           {"CHARACTER VARYING(20)", "VARCHAR 20"},
           {"VARCHAR(50)", "VARCHAR 50"},
           {"varchar(255) character set utf8mb4", "VARCHAR 255"},
           {"VARCHAR", "VARCHAR"},
           {"TEXT", "TEXT"},
           {"LONGTEXT", "TEXT"},
           {"JSON", "TEXT, makes numbers"},
           {"ENUM('a','b')", "TEXT, makes numbers"},
           {"BINARY(16)", "BINARY 16"},
           {"VARBINARY(100)", "VARBINARY 100"},
           {"BLOB", "BLOB"},
           {"BIT", "BIT 1"},
           {"BIT(8)", "BIT 8"},
           {"BIT(99)", "BIT 64"},
           {"DATE", "DATE, as written"},
           {"TIME(6)", "TIME .6"},
           {"DATETIME(3)", "DATETIME .3"},
           {"TIMESTAMP(9)", "TIMESTAMP .6"},
           {"YEAR(4)", "YEAR"},
           {"DATETIME", "DATETIME, as written"},
           {"TIMESTAMP", "TIMESTAMP, as written"},
           {"TIME", "TIME, as written"},
           {"", "ANY"},
           {"UUID", "ANY, makes numbers"},
           {"JSONB", "ANY, makes numbers"},
           {"INTERVAL", "ANY, makes numbers"},
           {"UNSIGNED MONEY", "ANY, makes numbers"},
           {"FLOAT8", "DOUBLE"},
           {"CITEXT", "TEXT"},
           {"LARGEBLOB", "BLOB"},
           {"NATIVE CHARACTER(70)", "TEXT"},
           {"INT8", "BIGINT"},
           {"STRING", "ANY, makes numbers"},
           {"(", "ANY"},
           {"DECIMAL(", "DECIMAL"},
           {"VARCHAR(99999999999999)", "VARCHAR"},
       })
    EXPECT_EQ(shape_of(declared), shape) << declared;
}

}  // namespace
}  // namespace weft::store::sqlite
