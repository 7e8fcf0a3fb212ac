// simdjson, by its on-demand interface. Debian's library is made for libstdc++, and so is this
// program. It writes no JSON.
#include <simdjson.h>

#include "measure.hpp"

namespace s = serializers;

namespace {

namespace ondemand = simdjson::ondemand;

// Each throws simdjson_error where the text is not what the type wants. Members are looked for in
// the order of the text, which is what on-demand is fastest at.
void take(ondemand::value from, std::string& into) { into = std::string_view{from}; }

void take(ondemand::value from, s::cell& into) {
  switch (from.type()) {
    case ondemand::json_type::null:
      if (!from.is_null()) throw simdjson::simdjson_error{simdjson::INCORRECT_TYPE};
      break;
    case ondemand::json_type::boolean: into = bool{from}; break;
    case ondemand::json_type::number: into = double{from}; break;
    default: take(from, into.emplace<std::string>());
  }
}

void take(ondemand::object from, s::message& into) {
  into.id = std::uint64_t{from["id"]};
  take(from["val"], into.val);
}

void take(ondemand::object from, s::filter& into) {
  take(from["column"], into.column);
  take(from["value"], into.value);
}

void take(ondemand::object from, s::read_column& into) {
  take(from["column"], into.column);
  take(from["dataReturnType"], into.data_return_type);
}

template <class T>
void take(ondemand::array from, std::vector<T>& into);

void take(ondemand::object from, s::operation& into) {
  take(from["method"], into.method);
  take(from["relative-url"], into.relative_url);
  ondemand::object body = from["body"];
  take(body["filters"].get_array().value(), into.body.filters);
  take(body["readColumns"].get_array().value(), into.body.read_columns);
  take(body["operationId"], into.body.operation_id);
}

void take(ondemand::object from, s::answer& into) {
  into.status = static_cast<std::int32_t>(std::int64_t{from["status"]});
  ondemand::object body = from["body"];
  take(body["operationId"], into.body.operation_id);
  take(body["data"].get_array().value(), into.body.data);
}

void take(ondemand::object from, s::request& into) {
  take(from["operations"].get_array().value(), into.operations);
}

void take(ondemand::object from, s::reply& into) {
  take(from["result"].get_array().value(), into.result);
}

template <class T>
void take(ondemand::array from, std::vector<T>& into) {
  for (ondemand::value each : from) {
    if constexpr (std::is_same_v<T, s::cell>)
      take(each, into.emplace_back());
    else
      take(each.get_object().value(), into.emplace_back());
  }
}

class simd {
 public:
  static constexpr const char* name = "simdjson";
  static constexpr bool writes = false;

  template <class T>
  bool read(const std::string& text, T& into) {
    static_assert(simdjson::SIMDJSON_PADDING <= s::padding);
    try {
      const simdjson::padded_string_view padded{text.data(), text.size(), text.size() + s::padding};
      ondemand::document document = parser_.iterate(padded);
      take(document.get_object().value(), into);
      return true;
    } catch (const simdjson::simdjson_error&) {
      return false;
    }
  }

 private:
  ondemand::parser parser_;
};

}  // namespace

int main(int argc, char** argv) { return s::run<simd>(argc, argv); }
