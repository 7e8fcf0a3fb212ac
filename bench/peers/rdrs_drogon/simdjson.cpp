// Batches of reads by Drogon and simdjson on demand, with one parser; it has no writer of structs,
// so that is by hand.
#include <simdjson.h>

#include <cstring>
#include <vector>

#include "server.hpp"

namespace {

using namespace simdjson;

struct on_demand {
  static bool walk(std::string_view text, rdrs::summary& seen) {
    try {
      ondemand::document document = parsed(text);
      for (ondemand::object each : document["operations"].get_array()) {
        seen.begin_operation();
        seen.see(each["method"]);
        seen.see(each["relative-url"]);
        ondemand::object body = each["body"];
        for (ondemand::object filter : body["filters"].get_array()) {
          seen.sum_up(filter["column"]);
          seen.sum_up(filter["value"]);
        }
        for (ondemand::object column : body["readColumns"].get_array()) {
          seen.sum_up(column["column"]);
          seen.see(column["dataReturnType"]);
        }
        seen.see(body["operationId"]);
      }
      return true;
    } catch (const simdjson_error&) {
      return false;
    }
  }

  static bool read(std::string_view text, rdrs::batch& into) {
    try {
      ondemand::document document = parsed(text);
      std::size_t count = 0;
      for (ondemand::object each : document["operations"].get_array()) {
        rdrs::operation& operation = next(into.operations, count);
        operation.method = std::string_view(each["method"]);
        operation.relative_url = std::string_view(each["relative-url"]);
        ondemand::object body = each["body"];
        std::size_t filters = 0;
        for (ondemand::object given : body["filters"].get_array()) {
          rdrs::filter& filter = next(operation.body.filters, filters);
          filter.column = std::string_view(given["column"]);
          filter.value = std::string_view(given["value"]);
        }
        operation.body.filters.resize(filters);
        std::size_t columns = 0;
        for (ondemand::object given : body["readColumns"].get_array()) {
          rdrs::read_column& column = next(operation.body.readColumns, columns);
          column.column = std::string_view(given["column"]);
          column.dataReturnType = std::string_view(given["dataReturnType"]);
        }
        operation.body.readColumns.resize(columns);
        operation.body.operationId = std::string_view(body["operationId"]);
      }
      into.operations.resize(count);
      return true;
    } catch (const simdjson_error&) {
      return false;
    }
  }

  static void write(const rdrs::batch& batch, std::string& text) {
    text += R"({"operations":[)";
    for (const rdrs::operation& each : batch.operations) {
      separate(each, batch.operations, text);
      text += R"({"method":)";
      rdrs::append_text(each.method, text);
      text += R"(,"relative-url":)";
      rdrs::append_text(each.relative_url, text);
      text += R"(,"body":{"filters":[)";
      for (const rdrs::filter& filter : each.body.filters) {
        separate(filter, each.body.filters, text);
        text += R"({"column":)";
        rdrs::append_text(filter.column, text);
        text += R"(,"value":)";
        rdrs::append_text(filter.value, text);
        text += '}';
      }
      text += R"(],"readColumns":[)";
      for (const rdrs::read_column& column : each.body.readColumns) {
        separate(column, each.body.readColumns, text);
        text += R"({"column":)";
        rdrs::append_text(column.column, text);
        text += R"(,"dataReturnType":)";
        rdrs::append_text(column.dataReturnType, text);
        text += '}';
      }
      text += R"(],"operationId":)";
      rdrs::append_text(each.body.operationId, text);
      text += "}}";
    }
    text += "]}";
  }

 private:
  static ondemand::document parsed(std::string_view text) {
    static thread_local ondemand::parser parser;
    static thread_local std::vector<char> padded;
    if (padded.size() < text.size() + SIMDJSON_PADDING)
      padded.resize(text.size() + SIMDJSON_PADDING);
    std::memcpy(padded.data(), text.data(), text.size());
    return parser.iterate(padded.data(), text.size(), padded.size());
  }
  /// One that is there is used again, with its memory.
  template <class T>
  static T& next(std::vector<T>& all, std::size_t& count) {
    if (count == all.size()) all.emplace_back();
    return all[count++];
  }
  template <class T>
  static void separate(const T& each, const std::vector<T>& all, std::string& text) {
    if (&each != all.data()) text += ',';
  }
};

}  // namespace

int main(int, char** argv) { return rdrs::serve<on_demand>(argv[1]); }
