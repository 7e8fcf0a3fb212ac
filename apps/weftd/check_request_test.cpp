#include <apps/weftd/check_request.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <weft/base/format.hpp>

#include <apps/weftd/check_batch.hpp>

namespace weftd {
namespace {

constexpr api_limits few{.operation_id_bytes = 8};

/// What `judge` says of a request; empty: nothing is wrong.
template <class Request, class Judge>
std::string said(std::string_view document, Judge judge) {
  request_memory memory;
  memory.operations_max = 3;
  const auto asked = read_document<Request>(document, memory);
  if (!asked) return asked.error().message;
  const checked fine = judge(*asked, few, memory);
  if (fine) return {};
  EXPECT_EQ(fine.error().code, weft::http::status::bad_request);
  return fine.error().message;
}

std::string said_of_row(std::string_view document) {
  return said<pk_read_request>(document, [](const auto& asked, const auto& limits, auto& memory) {
    return check(asked, limits, memory);
  });
}

std::string said_of_batch(std::string_view operations) {
  return said<batch_read_request>(weft::format(R"({{"operations":{}}})", operations), check_reads);
}

std::string filters_with(std::string_view filters, std::string_view rest = "") {
  return said_of_row(weft::format(R"({{"filters":[{}]{}}})", filters, rest));
}

constexpr std::string_view one = R"({"column":"id","value":1})";
constexpr std::string_view body = R"("body":{"filters":[{"column":"id","value":1}]})";

TEST(check_request, takes_what_is_right) {
  EXPECT_EQ(filters_with(one), "");
  EXPECT_EQ(filters_with(one, R"(,"readColumns":null,"operationId":null)"), "");
  EXPECT_EQ(filters_with(one, R"(,"readColumns":[])"), "");
  EXPECT_EQ(filters_with(
                one, R"(,"readColumns":[{"column":"a","dataReturnType":"default"},{"column":"b"}],)"
                     R"("operationId":"12345678")"),
            "");
  EXPECT_EQ(filters_with(R"({"column":"κόσμε","value":null},{"column":"b","value":"x"})"), "");
}

TEST(check_request, tells_what_is_no_request) {
  EXPECT_TRUE(said_of_row("{").contains("(byte 1)")) << said_of_row("{");
  EXPECT_TRUE(said_of_row(R"({"filters":[],"readColumn":[]})").contains("there is no such member"));
  EXPECT_TRUE(said_of_row(R"({"filters":{}})").contains("/filters: expected an array"));
  EXPECT_TRUE(filters_with(R"({"column":"id","value":[1]})").contains("/filters/0/value"));
}

TEST(check_request, tells_of_filters) {
  EXPECT_EQ(said_of_row("{}"), "the filters section is null");
  EXPECT_EQ(said_of_row(R"({"filters":null})"), "the filters section is null");
  EXPECT_EQ(filters_with(""), "the filters section is empty");
  EXPECT_EQ(filters_with(R"({"value":1})"), "a Column in the filters section is null");
  EXPECT_EQ(filters_with(R"({"column":null,"value":1})"),
            "a Column in the filters section is null");
  EXPECT_EQ(filters_with(R"({"column":"","value":1})"), "identifier is empty");
  EXPECT_EQ(filters_with(weft::format(R"({{"column":"{}","value":1}})", std::string(65, 'x'))),
            "identifier is too large: " + std::string(65, 'x'));
  EXPECT_TRUE(filters_with(R"({"column":"a\u0000","value":1})")
                  .starts_with("identifier carries an invalid character"));
  EXPECT_TRUE(filters_with(R"({"column":"😀","value":1})")
                  .starts_with("identifier carries an invalid character"));
  EXPECT_EQ(filters_with(R"({"column":"id"})"), "the Value of filter 'id' is missing");
  EXPECT_TRUE(filters_with(weft::format("{0},{0}", one))
                  .starts_with("field validation for filter failed on the 'unique' tag"));
}

TEST(check_request, tells_of_columns_to_read) {
  const auto read = [](std::string_view columns) {
    return filters_with(one, weft::format(R"(,"readColumns":[{}])", columns));
  };
  EXPECT_EQ(read("{}"), "a column to read is missing a name");
  EXPECT_EQ(read(R"({"column":""})"), "identifier is empty");
  EXPECT_TRUE(read(R"({"column":"a","dataReturnType":"hex"})")
                  .starts_with("default dataReturnType is the only supported"));
  EXPECT_TRUE(read(R"({"column":"a"},{"column":"a"})")
                  .starts_with("field validation for 'ReadColumns' failed on the 'unique' tag"));
  EXPECT_EQ(read(R"({"column":"id"})"),
            "field validation for read columns failed. 'id' already included in filter");
}

TEST(check_request, finds_one_among_many_columns) {
  std::string columns;
  for (int i = 0; i < 100; ++i) columns += weft::format(R"({{"column":"c{}"}},)", i);
  const auto read = [&](std::string_view last) {
    return filters_with(one,
                        weft::format(R"(,"readColumns":[{}{{"column":"{}"}}])", columns, last));
  };
  EXPECT_EQ(read("c100"), "");
  EXPECT_TRUE(read("c17").contains("'unique' tag"));
  EXPECT_TRUE(read("id").contains("'id' already included in filter"));
}

TEST(check_request, bounds_the_operation_id) {
  EXPECT_EQ(filters_with(one, R"(,"operationId":"123456789")"),
            "the operationId has 9 bytes; max allowed length is 8");
}

TEST(check_request, tells_of_names_in_a_path) {
  const std::string large(65, 'x');
  EXPECT_TRUE(check_names("db", "table"));
  EXPECT_TRUE(check_names("", "t").error().message.starts_with(
      "Field validation for 'DB' failed on the 'min' tag"));
  EXPECT_TRUE(check_names(large, "t")
                  .error()
                  .message.starts_with("Field validation for 'DB' failed on the 'max' tag"));
  EXPECT_TRUE(check_names("d", "").error().message.starts_with(
      "Field validation for 'Table' failed on the 'min' tag"));
  EXPECT_TRUE(check_names("d", large)
                  .error()
                  .message.starts_with("Field validation for 'Table' failed on the 'max' tag"));
  EXPECT_TRUE(check_names("d", "😀").error().message.starts_with(
      "identifier carries an invalid character"));
}

TEST(check_request, tells_of_batches) {
  const auto operation = [](std::string_view parts) {
    return said_of_batch(weft::format("[{{{}}}]", parts));
  };
  EXPECT_EQ(said_of_batch("null"), "No operations defined");
  EXPECT_EQ(said_of_batch("[]"), "No operations defined");
  EXPECT_EQ(operation(weft::format(R"("method":"POST","relative-url":"d/t/pk-read",{})", body)),
            "");
  EXPECT_EQ(
      operation(weft::format(R"("method":"POST","relative-url":"/0.1.0/d/t/pk-read",{})", body)),
      "");
  EXPECT_TRUE(operation(weft::format(R"("method":"GET","relative-url":"d/t/pk-read",{})", body))
                  .starts_with("the Method section should be POST"));
  EXPECT_EQ(operation(weft::format(R"("relative-url":"d/t/pk-read",{})", body)), "");
  for (const std::string_view method : {"null", R"("")", R"("post")", R"("DELETE")", "1", "true"})
    EXPECT_TRUE(
        operation(weft::format(R"("method":{},"relative-url":"d/t/pk-read",{})", method, body))
            .starts_with("the Method section should be POST, not '"))
        << method;
  EXPECT_EQ(operation(weft::format(R"("method":"POST",{})", body)),
            "the relativeUrl section is required");
  for (const std::string_view url : {"t/pk-read", "d/t/pk-write", "pk-read", "d/t/"})
    EXPECT_TRUE(operation(weft::format(R"("method":"POST","relative-url":"{}",{})", url, body))
                    .starts_with("Field validation for 'RelativeURL' failed"))
        << url;
  EXPECT_TRUE(operation(weft::format(R"("method":"POST","relative-url":"//t/pk-read",{})", body))
                  .starts_with("Field validation for 'DB' failed"));
  EXPECT_EQ(operation(R"("method":"POST","relative-url":"d/t/pk-read")"),
            "Field validation for 'Body' failed on the 'required' tag");
  EXPECT_EQ(operation(R"("method":"POST","relative-url":"d/t/pk-read","body":{})"),
            "the filters section is null");
  const std::string each =
      weft::format(R"({{"method":"POST","relative-url":"d/t/pk-read",{}}})", body);
  EXPECT_EQ(said_of_batch(weft::format("[{0},{0},{0}]", each)), "");
  EXPECT_TRUE(said_of_batch(weft::format("[{0},{0},{0},{0}]", each))
                  .starts_with("Batch size exceeds maximum allowed size: 3"));
}

/// What is said of two operations, of which the first is fine.
std::string said_of_writes(std::string_view action, std::string_view columns, auto judge) {
  const auto operation = [](std::string_view what, std::string_view more) {
    return weft::format(R"({{"relative-url":"d/t/{}","body":{{"filters":[{}]{}}}}})", what, one,
                        more);
  };
  const std::string_view fine = action == "pk-delete" ? action : "pk-insert";
  return said<batch_write_request>(
      weft::format(R"({{"operations":[{},{}]}})", operation(fine, ""), operation(action, columns)),
      judge);
}

TEST(check_request, tells_which_operation_has_nothing_to_write_or_too_much) {
  constexpr std::string_view nothing[] = {"", R"(,"writeColumns":null)", R"(,"writeColumns":[])"};
  constexpr std::string_view something = R"(,"writeColumns":[{"column":"a","value":1}])";
  for (const std::string_view columns : nothing) {
    for (const std::string_view action : {"pk-write", "pk-update"})
      EXPECT_EQ(said_of_writes(action, columns, check_writes),
                "operation 1: the writeColumns section is empty")
          << action << columns;
    EXPECT_EQ(said_of_writes("pk-insert", columns, check_writes), "");
    EXPECT_EQ(said_of_writes("pk-delete", columns, check_deletes), "");
  }
  for (const std::string_view action : {"pk-write", "pk-update", "pk-insert"})
    EXPECT_EQ(said_of_writes(action, something, check_writes), "") << action;
  EXPECT_EQ(said_of_writes("pk-delete", something, check_deletes),
            "operation 1: a pk-delete has no writeColumns section");
}

}  // namespace
}  // namespace weftd
