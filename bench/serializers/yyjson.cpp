// yyjson: a tree of values in one block, for reading and, another one, for writing.
#include <yyjson.h>

#include <memory>

#include "measure.hpp"

namespace s = serializers;

namespace {

bool take(yyjson_val* from, std::string& into) {
  if (!yyjson_is_str(from)) return false;
  into.assign(yyjson_get_str(from), yyjson_get_len(from));
  return true;
}

bool take(yyjson_val* from, s::cell& into) {
  if (yyjson_is_null(from)) return true;
  if (yyjson_is_bool(from)) {
    into = yyjson_get_bool(from);
  } else if (yyjson_is_num(from)) {
    into = yyjson_get_num(from);
  } else {
    return take(from, into.emplace<std::string>());
  }
  return true;
}

bool take(yyjson_val* from, s::message& into) {
  yyjson_val* const id = yyjson_obj_get(from, "id");
  into.id = yyjson_get_uint(id);
  return yyjson_is_uint(id) && take(yyjson_obj_get(from, "val"), into.val);
}

bool take(yyjson_val* from, s::filter& into) {
  return take(yyjson_obj_get(from, "column"), into.column) &&
         take(yyjson_obj_get(from, "value"), into.value);
}

bool take(yyjson_val* from, s::read_column& into) {
  return take(yyjson_obj_get(from, "column"), into.column) &&
         take(yyjson_obj_get(from, "dataReturnType"), into.data_return_type);
}

template <class T>
bool take(yyjson_val* from, std::vector<T>& into);

bool take(yyjson_val* from, s::operation& into) {
  yyjson_val* const body = yyjson_obj_get(from, "body");
  return take(yyjson_obj_get(from, "method"), into.method) &&
         take(yyjson_obj_get(from, "relative-url"), into.relative_url) &&
         take(yyjson_obj_get(body, "filters"), into.body.filters) &&
         take(yyjson_obj_get(body, "readColumns"), into.body.read_columns) &&
         take(yyjson_obj_get(body, "operationId"), into.body.operation_id);
}

bool take(yyjson_val* from, s::answer& into) {
  yyjson_val* const status = yyjson_obj_get(from, "status");
  yyjson_val* const body = yyjson_obj_get(from, "body");
  into.status = yyjson_get_int(status);
  return yyjson_is_int(status) &&
         take(yyjson_obj_get(body, "operationId"), into.body.operation_id) &&
         take(yyjson_obj_get(body, "data"), into.body.data);
}

bool take(yyjson_val* from, s::request& into) {
  return take(yyjson_obj_get(from, "operations"), into.operations);
}

bool take(yyjson_val* from, s::reply& into) {
  return take(yyjson_obj_get(from, "result"), into.result);
}

template <class T>
bool take(yyjson_val* from, std::vector<T>& into) {
  if (!yyjson_is_arr(from)) return false;
  into.reserve(yyjson_arr_size(from));
  std::size_t index = 0;
  std::size_t count = 0;
  yyjson_val* each = nullptr;
  yyjson_arr_foreach(from, index, count, each) {
    if (!take(each, into.emplace_back())) return false;
  }
  return true;
}

/// Makes values of one document; strings stay where they are.
class maker {
 public:
  explicit maker(yyjson_mut_doc* document) : document_{document} {}

  yyjson_mut_val* make(const std::string& text) const {
    return yyjson_mut_strn(document_, text.data(), text.size());
  }

  yyjson_mut_val* make(const s::cell& from) const {
    if (const auto* truth = std::get_if<bool>(&from)) return yyjson_mut_bool(document_, *truth);
    if (const auto* number = std::get_if<double>(&from)) return yyjson_mut_real(document_, *number);
    if (const auto* text = std::get_if<std::string>(&from)) return make(*text);
    return yyjson_mut_null(document_);
  }

  yyjson_mut_val* make(const s::message& from) const {
    yyjson_mut_val* const made = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_uint(document_, made, "id", from.id);
    yyjson_mut_obj_add_val(document_, made, "val", make(from.val));
    return made;
  }

  yyjson_mut_val* make(const s::filter& from) const {
    yyjson_mut_val* const made = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_val(document_, made, "column", make(from.column));
    yyjson_mut_obj_add_val(document_, made, "value", make(from.value));
    return made;
  }

  yyjson_mut_val* make(const s::read_column& from) const {
    yyjson_mut_val* const made = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_val(document_, made, "column", make(from.column));
    yyjson_mut_obj_add_val(document_, made, "dataReturnType", make(from.data_return_type));
    return made;
  }

  template <class T>
  yyjson_mut_val* make(const std::vector<T>& from) const {
    yyjson_mut_val* const made = yyjson_mut_arr(document_);
    for (const T& each : from) yyjson_mut_arr_append(made, make(each));
    return made;
  }

  yyjson_mut_val* make(const s::operation& from) const {
    yyjson_mut_val* const body = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_val(document_, body, "filters", make(from.body.filters));
    yyjson_mut_obj_add_val(document_, body, "readColumns", make(from.body.read_columns));
    yyjson_mut_obj_add_val(document_, body, "operationId", make(from.body.operation_id));
    yyjson_mut_val* const made = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_val(document_, made, "method", make(from.method));
    yyjson_mut_obj_add_val(document_, made, "relative-url", make(from.relative_url));
    yyjson_mut_obj_add_val(document_, made, "body", body);
    return made;
  }

  yyjson_mut_val* make(const s::answer& from) const {
    yyjson_mut_val* const body = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_val(document_, body, "operationId", make(from.body.operation_id));
    yyjson_mut_obj_add_val(document_, body, "data", make(from.body.data));
    yyjson_mut_val* const made = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_int(document_, made, "status", from.status);
    yyjson_mut_obj_add_val(document_, made, "body", body);
    return made;
  }

  yyjson_mut_val* make(const s::request& from) const {
    return object_of("operations", make(from.operations));
  }
  yyjson_mut_val* make(const s::reply& from) const {
    return object_of("result", make(from.result));
  }

 private:
  yyjson_mut_val* object_of(const char* name, yyjson_mut_val* value) const {
    yyjson_mut_val* const made = yyjson_mut_obj(document_);
    yyjson_mut_obj_add_val(document_, made, name, value);
    return made;
  }

  yyjson_mut_doc* document_;
};

struct yyjson {
  static constexpr const char* name = "yyjson";
  static constexpr bool writes = true;

  template <class T>
  void write(const T& value, std::string& text) {
    const std::unique_ptr<yyjson_mut_doc, decltype(&yyjson_mut_doc_free)> document{
        yyjson_mut_doc_new(nullptr), &yyjson_mut_doc_free};
    yyjson_mut_doc_set_root(document.get(), maker{document.get()}.make(value));
    std::size_t length = 0;
    const std::unique_ptr<char, decltype(&std::free)> made{
        yyjson_mut_write(document.get(), YYJSON_WRITE_NOFLAG, &length), &std::free};
    text.assign(made.get(), length);
  }

  template <class T>
  bool read(const std::string& text, T& value) {
    const std::unique_ptr<yyjson_doc, decltype(&yyjson_doc_free)> document{
        yyjson_read(text.data(), text.size(), YYJSON_READ_NOFLAG), &yyjson_doc_free};
    return document != nullptr && take(yyjson_doc_get_root(document.get()), value);
  }
};

}  // namespace

int main(int argc, char** argv) { return s::run<yyjson>(argc, argv); }
