// Boost.JSON: a tree of values in memory of its own on the stack, for reading and for writing.
#include <boost/json/src.hpp>

#include "measure.hpp"

namespace s = serializers;
namespace json = boost::json;

namespace {

// Each throws where the text is not what the type wants.
void take(const json::value& from, std::string& into) {
  const json::string& text = from.as_string();
  into.assign(text.data(), text.size());
}

void take(const json::value& from, s::cell& into) {
  switch (from.kind()) {
    case json::kind::null: break;
    case json::kind::bool_: into = from.get_bool(); break;
    case json::kind::string: take(from, into.emplace<std::string>()); break;
    default: into = from.to_number<double>();
  }
}

void take(const json::value& from, s::message& into) {
  const json::object& members = from.as_object();
  into.id = members.at("id").to_number<std::uint64_t>();
  take(members.at("val"), into.val);
}

void take(const json::value& from, s::filter& into) {
  const json::object& members = from.as_object();
  take(members.at("column"), into.column);
  take(members.at("value"), into.value);
}

void take(const json::value& from, s::read_column& into) {
  const json::object& members = from.as_object();
  take(members.at("column"), into.column);
  take(members.at("dataReturnType"), into.data_return_type);
}

template <class T>
void take(const json::value& from, std::vector<T>& into);

void take(const json::value& from, s::operation& into) {
  const json::object& members = from.as_object();
  const json::object& body = members.at("body").as_object();
  take(members.at("method"), into.method);
  take(members.at("relative-url"), into.relative_url);
  take(body.at("filters"), into.body.filters);
  take(body.at("readColumns"), into.body.read_columns);
  take(body.at("operationId"), into.body.operation_id);
}

void take(const json::value& from, s::answer& into) {
  const json::object& members = from.as_object();
  const json::object& body = members.at("body").as_object();
  into.status = members.at("status").to_number<std::int32_t>();
  take(body.at("operationId"), into.body.operation_id);
  take(body.at("data"), into.body.data);
}

void take(const json::value& from, s::request& into) {
  take(from.as_object().at("operations"), into.operations);
}

void take(const json::value& from, s::reply& into) {
  take(from.as_object().at("result"), into.result);
}

template <class T>
void take(const json::value& from, std::vector<T>& into) {
  const json::array& all = from.as_array();
  into.reserve(all.size());
  for (const json::value& each : all) take(each, into.emplace_back());
}

json::value make(const std::string& from, const json::storage_ptr& in) {
  return json::value(json::string_view{from}, in);
}

json::value make(const s::cell& from, const json::storage_ptr& in) {
  if (const auto* truth = std::get_if<bool>(&from)) return json::value(*truth, in);
  if (const auto* number = std::get_if<double>(&from)) return json::value(*number, in);
  if (const auto* text = std::get_if<std::string>(&from)) return make(*text, in);
  return json::value(nullptr, in);
}

template <class T>
json::value make(const std::vector<T>& from, const json::storage_ptr& in);

struct named {
  const char* name;
  json::value value;
};

/// An object of these names and values, which are made in the same memory.
template <class... Named>
json::value object_of(const json::storage_ptr& in, Named... members) {
  json::object made(in);
  made.reserve(sizeof...(members));
  (made.emplace(members.name, std::move(members.value)), ...);
  return made;
}

json::value make(const s::message& from, const json::storage_ptr& in) {
  return object_of(in, named{"id", json::value(from.id, in)}, named{"val", make(from.val, in)});
}

json::value make(const s::filter& from, const json::storage_ptr& in) {
  return object_of(in, named{"column", make(from.column, in)},
                   named{"value", make(from.value, in)});
}

json::value make(const s::read_column& from, const json::storage_ptr& in) {
  return object_of(in, named{"column", make(from.column, in)},
                   named{"dataReturnType", make(from.data_return_type, in)});
}

json::value make(const s::key_read& from, const json::storage_ptr& in) {
  return object_of(in, named{"filters", make(from.filters, in)},
                   named{"readColumns", make(from.read_columns, in)},
                   named{"operationId", make(from.operation_id, in)});
}

json::value make(const s::operation& from, const json::storage_ptr& in) {
  return object_of(in, named{"method", make(from.method, in)},
                   named{"relative-url", make(from.relative_url, in)},
                   named{"body", make(from.body, in)});
}

json::value make(const s::row& from, const json::storage_ptr& in) {
  return object_of(in, named{"operationId", make(from.operation_id, in)},
                   named{"data", make(from.data, in)});
}

json::value make(const s::answer& from, const json::storage_ptr& in) {
  return object_of(in, named{"status", json::value(from.status, in)},
                   named{"body", make(from.body, in)});
}

json::value make(const s::request& from, const json::storage_ptr& in) {
  return object_of(in, named{"operations", make(from.operations, in)});
}

json::value make(const s::reply& from, const json::storage_ptr& in) {
  return object_of(in, named{"result", make(from.result, in)});
}

template <class T>
json::value make(const std::vector<T>& from, const json::storage_ptr& in) {
  json::array made(in);
  made.reserve(from.size());
  for (const T& each : from) made.push_back(make(each, in));
  return made;
}

class boost_json {
 public:
  static constexpr const char* name = "Boost.JSON";
  static constexpr bool writes = true;

  template <class T>
  void write(const T& value, std::string& text) {
    json::monotonic_resource memory{room_};
    const json::value made = make(value, json::storage_ptr{&memory});
    serializer_.reset(&made);
    text.clear();
    std::array<char, 4096> part;
    while (!serializer_.done()) text.append(serializer_.read(part.data(), part.size()));
  }

  template <class T>
  bool read(const std::string& text, T& value) {
    json::monotonic_resource memory{room_};
    json::error_code error;
    const json::value tree = json::parse(text, error, json::storage_ptr{&memory});
    if (error) return false;
    try {
      take(tree, value);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  unsigned char room_[32768];
  json::serializer serializer_;
};

}  // namespace

int main(int argc, char** argv) { return s::run<boost_json>(argc, argv); }
