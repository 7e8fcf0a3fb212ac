#include <weft/store/sqlite/query_message.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::store::sqlite {
namespace {

using state = query_answer::state;

std::string_view body_of(std::string_view message) {
  return message.substr(query_message_head_bytes);
}

const std::vector<column> two_columns{
    {.name = "id", .type = column_type::big_int, .is_unsigned = true},
    {.name = "price", .type = column_type::decimal, .precision = 10, .scale = 2}};

std::string an_answer() {
  const value first[] = {value::integer(-7), value::text("12.50")};
  const value second[] = {value{}, value::bytes(std::string_view{"\0\xff", 2})};
  const std::span<const value> rows[] = {first, second};
  std::string message;
  write_answer(state::has_more, &two_columns, rows, {}, message);
  return message;
}

TEST(query_message, brings_a_query_across) {
  const std::vector<query_parameter> given{{.name = "least", .bound = value::real(0.5)},
                                           {.name = "name", .bound = value::text("Ada")}};
  std::string message;
  write_query({.database = "shop", .text = "SELECT 1", .parameters = given, .rows_max = 17},
              {.memory_bytes = 1U << 27U, .cpu_seconds = 12}, message);
  const auto read = read_command(body_of(message));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->what, query_command::kind::begin);
  EXPECT_EQ(read->text, "SELECT 1");
  EXPECT_EQ(read->rows_max, 17U);
  EXPECT_EQ(read->allowed.memory_bytes, 1U << 27U);
  EXPECT_EQ(read->allowed.cpu_seconds, 12U);
  ASSERT_EQ(read->parameters.size(), 2U);
  EXPECT_EQ(read->parameters[1].name, "name");
  EXPECT_EQ(read->parameters[1].bound, value::text("Ada"));
}

TEST(query_message, brings_rows_across) {
  const std::string message = an_answer();
  const auto read = read_answer(body_of(message), std::nullopt);
  ASSERT_TRUE(read && read->columns);
  EXPECT_EQ(*read->columns, two_columns);
  EXPECT_EQ(read->is, state::has_more);
  ASSERT_EQ(read->rows, 2U);
  EXPECT_EQ(read->values[0], value::integer(-7));
  EXPECT_EQ(read->values[1], value::text("12.50"));
  EXPECT_TRUE(read->values[2].is_null());
  EXPECT_EQ(read->values[3].as_text(), (std::string_view{"\0\xff", 2}));
}

TEST(query_message, brings_faults_across) {
  std::string message;
  write_answer(state::has_failed, nullptr, {},
               {.kind = failure_kind::invalid,
                .message = "no such table",
                .of_query = query_fault::semantic},
               message);
  for (const auto columns : {std::optional<std::size_t>{}, std::optional<std::size_t>{2}}) {
    const auto read = read_answer(body_of(message), columns);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->why, failure_kind::invalid);
    EXPECT_EQ(read->of_query, query_fault::semantic);
    EXPECT_EQ(read->message, "no such table");
  }
}

TEST(query_message, is_whole_or_nothing) {
  const std::string message = an_answer();
  const std::string_view body = body_of(message);
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(read_answer(body.substr(0, size), std::nullopt)) << size;
  EXPECT_FALSE(read_answer(std::string{body} + "x", std::nullopt));
}

TEST(query_message, has_no_more_rows_than_bytes) {
  const value one[] = {value{}};
  const std::vector<column> columns{{.name = "a"}};
  const std::span<const value> rows[] = {one};
  std::string message;
  write_answer(state::is_all, &columns, rows, {}, message);
  std::string body{body_of(message)};
  body.replace(body.size() - 5, 4, "\xff\xff\xff\xff");
  EXPECT_FALSE(read_answer(body, std::nullopt));
  EXPECT_FALSE(read_answer(std::string(20, '\xff'), std::nullopt));
}

TEST(query_message, greets_in_its_version_alone) {
  std::string message;
  write_greeting({.landlock = 7, .seccomp = true}, message);
  const auto read = read_greeting(body_of(message));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->landlock, 7);
  EXPECT_TRUE(read->seccomp);
  EXPECT_FALSE(read_greeting("weft query 0\n\x07\x01"));
  EXPECT_FALSE(read_greeting(""));
}

}  // namespace
}  // namespace weft::store::sqlite
