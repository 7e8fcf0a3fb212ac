// RapidJSON: a tree of values for reading, a stream of events for writing, as its manual has it.
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "measure.hpp"

namespace s = serializers;

namespace {

using value = rapidjson::Value;
using writer = rapidjson::Writer<rapidjson::StringBuffer>;

/// nullptr: there is none.
const value* member(const value& of, const char* name) {
  if (!of.IsObject()) return nullptr;
  const auto found = of.FindMember(name);
  return found == of.MemberEnd() ? nullptr : &found->value;
}

bool take(const value* from, std::string& into) {
  if (from == nullptr || !from->IsString()) return false;
  into.assign(from->GetString(), from->GetStringLength());
  return true;
}

bool take(const value* from, s::cell& into) {
  if (from->IsNull()) return true;
  if (from->IsBool()) {
    into = from->GetBool();
  } else if (from->IsNumber()) {
    into = from->GetDouble();
  } else {
    return take(from, into.emplace<std::string>());
  }
  return true;
}

bool take(const value* from, s::message& into) {
  const value* const id = member(*from, "id");
  if (id == nullptr || !id->IsUint64()) return false;
  into.id = id->GetUint64();
  return take(member(*from, "val"), into.val);
}

bool take(const value* from, s::filter& into) {
  return take(member(*from, "column"), into.column) && take(member(*from, "value"), into.value);
}

bool take(const value* from, s::read_column& into) {
  return take(member(*from, "column"), into.column) &&
         take(member(*from, "dataReturnType"), into.data_return_type);
}

template <class T>
bool take(const value* from, std::vector<T>& into);

bool take(const value* from, s::operation& into) {
  const value* const body = member(*from, "body");
  return body != nullptr && take(member(*from, "method"), into.method) &&
         take(member(*from, "relative-url"), into.relative_url) &&
         take(member(*body, "filters"), into.body.filters) &&
         take(member(*body, "readColumns"), into.body.read_columns) &&
         take(member(*body, "operationId"), into.body.operation_id);
}

bool take(const value* from, s::answer& into) {
  const value* const status = member(*from, "status");
  const value* const body = member(*from, "body");
  if (status == nullptr || !status->IsInt() || body == nullptr) return false;
  into.status = status->GetInt();
  return take(member(*body, "operationId"), into.body.operation_id) &&
         take(member(*body, "data"), into.body.data);
}

bool take(const value* from, s::request& into) {
  return take(member(*from, "operations"), into.operations);
}

bool take(const value* from, s::reply& into) { return take(member(*from, "result"), into.result); }

template <class T>
bool take(const value* from, std::vector<T>& into) {
  if (from == nullptr || !from->IsArray()) return false;
  into.reserve(from->Size());
  for (const value& each : from->GetArray())
    if (!take(&each, into.emplace_back())) return false;
  return true;
}

void put(writer& to, const std::string& text) {
  to.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put(writer& to, const s::cell& from) {
  if (const auto* truth = std::get_if<bool>(&from)) {
    to.Bool(*truth);
  } else if (const auto* number = std::get_if<double>(&from)) {
    to.Double(*number);
  } else if (const auto* text = std::get_if<std::string>(&from)) {
    put(to, *text);
  } else {
    to.Null();
  }
}

template <class T>
void put_member(writer& to, const char* name, const T& from);

void put(writer& to, const s::message& from) {
  to.StartObject();
  to.Key("id");
  to.Uint64(from.id);
  put_member(to, "val", from.val);
  to.EndObject();
}

void put(writer& to, const s::filter& from) {
  to.StartObject();
  put_member(to, "column", from.column);
  put_member(to, "value", from.value);
  to.EndObject();
}

void put(writer& to, const s::read_column& from) {
  to.StartObject();
  put_member(to, "column", from.column);
  put_member(to, "dataReturnType", from.data_return_type);
  to.EndObject();
}

void put(writer& to, const s::key_read& from) {
  to.StartObject();
  put_member(to, "filters", from.filters);
  put_member(to, "readColumns", from.read_columns);
  put_member(to, "operationId", from.operation_id);
  to.EndObject();
}

void put(writer& to, const s::operation& from) {
  to.StartObject();
  put_member(to, "method", from.method);
  put_member(to, "relative-url", from.relative_url);
  put_member(to, "body", from.body);
  to.EndObject();
}

void put(writer& to, const s::row& from) {
  to.StartObject();
  put_member(to, "operationId", from.operation_id);
  put_member(to, "data", from.data);
  to.EndObject();
}

void put(writer& to, const s::answer& from) {
  to.StartObject();
  to.Key("status");
  to.Int(from.status);
  put_member(to, "body", from.body);
  to.EndObject();
}

template <class T>
void put(writer& to, const std::vector<T>& from) {
  to.StartArray();
  for (const T& each : from) put(to, each);
  to.EndArray();
}

template <class T>
void put_member(writer& to, const char* name, const T& from) {
  to.Key(name);
  put(to, from);
}

void put(writer& to, const s::request& from) {
  to.StartObject();
  put_member(to, "operations", from.operations);
  to.EndObject();
}

void put(writer& to, const s::reply& from) {
  to.StartObject();
  put_member(to, "result", from.result);
  to.EndObject();
}

struct rapid {
  static constexpr const char* name = "RapidJSON";
  static constexpr bool writes = true;

  template <class T>
  void write(const T& from, std::string& text) {
    buffer_.Clear();
    writer to{buffer_};
    put(to, from);
    text.assign(buffer_.GetString(), buffer_.GetSize());
  }

  template <class T>
  bool read(const std::string& text, T& into) {
    rapidjson::Document document;
    document.Parse(text.data(), text.size());
    return !document.HasParseError() && take(&document, into);
  }

 private:
  rapidjson::StringBuffer buffer_;
};

}  // namespace

int main(int argc, char** argv) { return s::run<rapid>(argc, argv); }
