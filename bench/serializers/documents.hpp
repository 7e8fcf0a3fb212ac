// What all serializers write and read: three documents, as structs and as text.
//
// Contract: the text is compact, with members in the order of the structs, so that who writes a
// struct must give exactly its text. Plain C++20, for any standard library.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace serializers {

/// Ichor's document.
struct message {
  std::uint64_t id = 0;
  std::string val;
  bool operator==(const message&) const = default;
};

/// A batch of reads by primary key, as RDRS is asked for them.
struct filter {
  std::string column;
  std::string value;
  bool operator==(const filter&) const = default;
};
struct read_column {
  std::string column;
  std::string data_return_type;  // dataReturnType
  bool operator==(const read_column&) const = default;
};
struct key_read {
  std::vector<filter> filters;
  std::vector<read_column> read_columns;  // readColumns
  std::string operation_id;               // operationId
  bool operator==(const key_read&) const = default;
};
struct operation {
  std::string method;
  std::string relative_url;  // relative-url
  key_read body;
  bool operator==(const operation&) const = default;
};
struct request {
  std::vector<operation> operations;
  bool operator==(const request&) const = default;
};

/// A column of a row: null, or a value of its own type.
using cell = std::variant<std::monostate, bool, double, std::string>;

/// The answer: a row for each read, as an array of unlike values.
struct row {
  std::string operation_id;  // operationId
  std::vector<cell> data;
  bool operator==(const row&) const = default;
};
struct answer {
  std::int32_t status = 0;
  row body;
  bool operator==(const answer&) const = default;
};
struct reply {
  std::vector<answer> result;
  bool operator==(const reply&) const = default;
};

template <class T>
struct document {
  std::string_view name;
  T value;
  std::string text;
};

inline document<message> message_document() {
  return {"message", {.id = 20, .val = "five hundred"}, R"({"id":20,"val":"five hundred"})"};
}

inline document<request> request_document() {
  const operation one{.method = "POST",
                      .relative_url = "my_database_1/my_table_1/pk-read",
                      .body = {.filters = {{"id0", "0"}, {"id1", "0"}},
                               .read_columns = {{"col0", "default"}, {"col1", "default"}},
                               .operation_id = "1"}};
  return {"rdrs request",
          {.operations = {one}},
          R"({"operations":[{"method":"POST","relative-url":"my_database_1/my_table_1/pk-read",)"
          R"("body":{"filters":[{"column":"id0","value":"0"},{"column":"id1","value":"0"}],)"
          R"("readColumns":[{"column":"col0","dataReturnType":"default"},)"
          R"({"column":"col1","dataReturnType":"default"}],"operationId":"1"}}]})"};
}

/// Ten rows of seven columns, two of them null. All numbers are such as every library writes alike.
inline document<reply> reply_document() {
  document<reply> made{.name = "rdrs reply", .value = {}, .text = R"({"result":[)"};
  for (int i = 0; i < 10; ++i) {
    const std::string number = std::to_string(i + 1);
    made.value.result.push_back(
        {.status = 200,
         .body = {.operation_id = number,
                  .data = {cell{i + 1.5}, cell{"Ada Lovelace"}, cell{}, cell{i % 2 == 0},
                           cell{-0.25}, cell{"a \"quoted\" text\nof two lines"}, cell{}}}});
    made.text += i == 0 ? "" : ",";
    made.text += R"({"status":200,"body":{"operationId":")";
    made.text += number;
    made.text += R"(","data":[)";
    made.text += number;
    made.text += R"(.5,"Ada Lovelace",null,)";
    made.text += i % 2 == 0 ? "true" : "false";
    made.text += R"(,-0.25,"a \"quoted\" text\nof two lines",null]}})";
  }
  made.text += "]}";
  return made;
}

}  // namespace serializers
