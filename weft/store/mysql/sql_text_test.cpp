#include <weft/store/mysql/sql_text.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

class mysql_sql_text : public ::testing::Test {
 protected:
  [[nodiscard]] const table& of(const char* name) const { return *schema_.find("a`b", name); }

  static std::vector<catalog::database_definition> make() {
    const column id{.name = "id", .type = column_type::integer};
    const column price{.name = "pr`ice", .type = column_type::decimal, .precision = 10, .scale = 2};
    const column note{.name = "note", .type = column_type::varchar, .charset = "latin1"};
    const column name{.name = "name", .type = column_type::character, .charset = "cp1251"};
    return {
        {.name = "a`b",
         .tables = {
             {.database = "a`b", .name = "one", .columns = {id, price, note}, .key = {0}},
             {.database = "a`b", .name = "two", .columns = {id, price, note}, .key = {1, 0}},
             {.database = "a`b", .name = "words", .columns = {id, note}, .key = {1, 0}},
             {.database = "a`b", .name = "texts", .columns = {name, id, note}, .key = {2, 1, 0}}}}};
  }
  catalog schema_{make()};
};

TEST_F(mysql_sql_text, asks_for_many_keys_at_once) {
  const column_position columns[] = {2};
  EXPECT_EQ(select_by_keys(of("one"), columns, 1),
            "SELECT `id`,`note` FROM `a``b`.`one` WHERE `id`=?");
  EXPECT_EQ(select_by_keys(of("one"), columns, 3),
            "SELECT `id`,`note` FROM `a``b`.`one` WHERE `id` IN(?,?,?)");
  EXPECT_EQ(select_by_keys(of("two"), {}, 2),
            "SELECT `pr``ice`,`id` FROM `a``b`.`two` WHERE (`pr``ice`,`id`) "
            "IN((CAST(? AS DECIMAL(10,2)),?),(CAST(? AS DECIMAL(10,2)),?))");
}

TEST_F(mysql_sql_text, compares_texts_of_keys_one_by_one) {
  EXPECT_EQ(select_by_keys(of("words"), {}, 2),
            "SELECT `note`,`id` FROM `a``b`.`words` WHERE `note`=? AND `id`=? OR `note`=? AND "
            "`id`=?");
}

TEST_F(mysql_sql_text, numbers_keys_where_the_server_is_to_say_which_has_found_a_row) {
  const column_position columns[] = {2};
  EXPECT_EQ(select_by_numbered_keys(of("one"), columns, 2),
            "SELECT 0,`note` FROM `a``b`.`one` WHERE `id`=? UNION ALL "
            "SELECT 1,`note` FROM `a``b`.`one` WHERE `id`=?");
}

TEST_F(mysql_sql_text, asks_what_charsets_make_of_the_texts_of_keys) {
  EXPECT_EQ(convert_keys(of("words")), "SELECT CONVERT(CONVERT(? USING utf8mb4) USING `latin1`)");
  EXPECT_EQ(convert_keys(of("texts")),
            "SELECT CONVERT(CONVERT(? USING utf8mb4) USING `latin1`),CONVERT(CONVERT(? USING "
            "utf8mb4) USING `cp1251`)");
}

TEST_F(mysql_sql_text, writes_a_row) {
  const column_position columns[] = {2};
  key_write operation{.kind = write_kind::insert, .to = &of("two"), .key = {}, .columns = columns};
  EXPECT_EQ(write_row(operation, write_kind::insert),
            "INSERT INTO `a``b`.`two`(`pr``ice`,`id`,`note`) VALUES(?,?,?)");
  EXPECT_EQ(write_row(operation, write_kind::update),
            "UPDATE `a``b`.`two` SET `note`=? WHERE `pr``ice`=CAST(? AS DECIMAL(10,2)) AND `id`=?");
  operation.columns = {};
  operation.to = &of("one");
  EXPECT_EQ(write_row(operation, write_kind::update),
            "UPDATE `a``b`.`one` SET `id`=`id` WHERE `id`=?");
  EXPECT_EQ(write_row(operation, write_kind::remove), "DELETE FROM `a``b`.`one` WHERE `id`=?");
}

TEST_F(mysql_sql_text, inserts_many_rows_at_once) {
  const column_position columns[] = {2};
  const key_write first{
      .kind = write_kind::insert, .to = &of("one"), .key = {}, .columns = columns};
  EXPECT_EQ(insert_rows(first, 3), "INSERT INTO `a``b`.`one`(`id`,`note`) VALUES(?,?),(?,?),(?,?)");
}

}  // namespace
}  // namespace weft::store::mysql
