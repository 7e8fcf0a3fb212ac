// Batches of reads by Drogon and the JSON library that it brings, JsonCpp.
#include <json/json.h>

#include <memory>
#include <sstream>

#include "server.hpp"

namespace {

struct wrong_document {};

const Json::Value& member_of(const Json::Value& object, std::string_view name) {
  const Json::Value* const found =
      object.isObject() ? object.find(name.data(), name.data() + name.size()) : nullptr;
  if (found == nullptr) throw wrong_document{};
  return *found;
}

/// Of the document's own memory.
std::string_view text_in(const Json::Value& object, std::string_view name) {
  const char* begin = nullptr;
  const char* end = nullptr;
  if (!member_of(object, name).getString(&begin, &end)) throw wrong_document{};
  return {begin, end};
}

const Json::Value& array_in(const Json::Value& object, std::string_view name) {
  const Json::Value& found = member_of(object, name);
  if (!found.isArray()) throw wrong_document{};
  return found;
}

Json::Value value_of(const std::string& text) {
  return Json::Value{text.data(), text.data() + text.size()};
}

struct jsoncpp_library {
  static bool walk(std::string_view text, rdrs::summary& seen) {
    try {
      for (const Json::Value& each : array_in(document(text), "operations")) {
        seen.begin_operation();
        seen.see(text_in(each, "method"));
        seen.see(text_in(each, "relative-url"));
        const Json::Value& body = member_of(each, "body");
        for (const Json::Value& filter : array_in(body, "filters")) {
          seen.sum_up(text_in(filter, "column"));
          seen.sum_up(text_in(filter, "value"));
        }
        for (const Json::Value& column : array_in(body, "readColumns")) {
          seen.sum_up(text_in(column, "column"));
          seen.see(text_in(column, "dataReturnType"));
        }
        seen.see(text_in(body, "operationId"));
      }
      return true;
    } catch (wrong_document) {
      return false;
    }
  }

  static bool read(std::string_view text, rdrs::batch& into) {
    try {
      const Json::Value& operations = array_in(document(text), "operations");
      into.operations.resize(operations.size());
      for (Json::ArrayIndex i = 0; i < operations.size(); ++i)
        read(operations[i], into.operations[i]);
      return true;
    } catch (wrong_document) {
      return false;
    }
  }

  static void write(const rdrs::batch& batch, std::string& text) {
    Json::Value operations{Json::arrayValue};
    for (const rdrs::operation& each : batch.operations) operations.append(tree_of(each));
    Json::Value root{Json::objectValue};
    root["operations"] = std::move(operations);
    static thread_local const std::unique_ptr<Json::StreamWriter> writer = [] {
      Json::StreamWriterBuilder how;
      how["commentStyle"] = "None";
      how["indentation"] = "";
      return std::unique_ptr<Json::StreamWriter>{how.newStreamWriter()};
    }();
    std::ostringstream written;
    writer->write(root, &written);
    text += written.view();
  }

 private:
  /// Until the next one.
  static const Json::Value& document(std::string_view text) {
    static thread_local const std::unique_ptr<Json::CharReader> reader{
        Json::CharReaderBuilder{}.newCharReader()};
    static thread_local Json::Value read;
    if (!reader->parse(text.data(), text.data() + text.size(), &read, nullptr))
      throw wrong_document{};
    return read;
  }

  static void read(const Json::Value& from, rdrs::operation& into) {
    into.method = text_in(from, "method");
    into.relative_url = text_in(from, "relative-url");
    const Json::Value& body = member_of(from, "body");
    const Json::Value& filters = array_in(body, "filters");
    into.body.filters.resize(filters.size());
    for (Json::ArrayIndex i = 0; i < filters.size(); ++i) {
      into.body.filters[i].column = text_in(filters[i], "column");
      into.body.filters[i].value = text_in(filters[i], "value");
    }
    const Json::Value& columns = array_in(body, "readColumns");
    into.body.readColumns.resize(columns.size());
    for (Json::ArrayIndex i = 0; i < columns.size(); ++i) {
      into.body.readColumns[i].column = text_in(columns[i], "column");
      into.body.readColumns[i].dataReturnType = text_in(columns[i], "dataReturnType");
    }
    into.body.operationId = text_in(body, "operationId");
  }

  static Json::Value tree_of(const rdrs::operation& of) {
    Json::Value filters{Json::arrayValue};
    for (const rdrs::filter& each : of.body.filters) {
      Json::Value& filter = filters.append(Json::objectValue);
      filter["column"] = value_of(each.column);
      filter["value"] = value_of(each.value);
    }
    Json::Value columns{Json::arrayValue};
    for (const rdrs::read_column& each : of.body.readColumns) {
      Json::Value& column = columns.append(Json::objectValue);
      column["column"] = value_of(each.column);
      column["dataReturnType"] = value_of(each.dataReturnType);
    }
    Json::Value operation{Json::objectValue};
    operation["method"] = value_of(of.method);
    operation["relative-url"] = value_of(of.relative_url);
    Json::Value& body = operation["body"];
    body["filters"] = std::move(filters);
    body["readColumns"] = std::move(columns);
    body["operationId"] = value_of(of.body.operationId);
    return operation;
  }
};

}  // namespace

int main(int, char** argv) { return rdrs::serve<jsoncpp_library>(argv[1]); }
