// Batches of reads by Drogon and yyjson, in place and in memory that is used again.
#include <yyjson.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "server.hpp"

namespace {

/// An allocator whose memory stays, and a copy of the text that may be written.
class document {
 public:
  explicit document(std::string_view text) {
    if (text_.size() < text.size() + YYJSON_PADDING_SIZE)
      text_.resize(text.size() + YYJSON_PADDING_SIZE);
    std::memcpy(text_.data(), text.data(), text.size());
    std::memset(text_.data() + text.size(), 0, YYJSON_PADDING_SIZE);
    const std::size_t most = yyjson_read_max_memory_usage(text.size(), YYJSON_READ_INSITU);
    if (room_.size() < most) room_.resize(most);
    yyjson_alc memory;
    yyjson_alc_pool_init(&memory, room_.data(), room_.size());
    read_ = yyjson_read_opts(text_.data(), text.size(), YYJSON_READ_INSITU, &memory, nullptr);
  }
  document(const document&) = delete;
  document& operator=(const document&) = delete;

  [[nodiscard]] yyjson_val* root() const { return yyjson_doc_get_root(read_); }

 private:
  static thread_local std::vector<char> text_;
  static thread_local std::vector<char> room_;
  yyjson_doc* read_;  // lies in room_
};
thread_local std::vector<char> document::text_;
thread_local std::vector<char> document::room_;

struct wrong_document {};

std::string_view text_in(yyjson_val* object, const char* name) {
  yyjson_val* const value = yyjson_obj_get(object, name);
  if (!yyjson_is_str(value)) throw wrong_document{};
  return {yyjson_get_str(value), yyjson_get_len(value)};
}

yyjson_val* array_in(yyjson_val* object, const char* name) {
  yyjson_val* const value = yyjson_obj_get(object, name);
  if (!yyjson_is_arr(value)) throw wrong_document{};
  return value;
}

void add_text(yyjson_mut_doc* to, yyjson_mut_val* object, const char* name,
              const std::string& text) {
  yyjson_mut_obj_add_strn(to, object, name, text.data(), text.size());
}

struct yyjson_library {
  static bool walk(std::string_view text, rdrs::summary& seen) {
    const document read{text};
    try {
      std::size_t i, max, k, most;
      yyjson_val *each, *item;
      yyjson_arr_foreach(array_in(read.root(), "operations"), i, max, each) {
        seen.begin_operation();
        seen.see(text_in(each, "method"));
        seen.see(text_in(each, "relative-url"));
        yyjson_val* const body = yyjson_obj_get(each, "body");
        yyjson_arr_foreach(array_in(body, "filters"), k, most, item) {
          seen.sum_up(text_in(item, "column"));
          seen.sum_up(text_in(item, "value"));
        }
        yyjson_arr_foreach(array_in(body, "readColumns"), k, most, item) {
          seen.sum_up(text_in(item, "column"));
          seen.see(text_in(item, "dataReturnType"));
        }
        seen.see(text_in(body, "operationId"));
      }
      return true;
    } catch (wrong_document) {
      return false;
    }
  }

  static bool read(std::string_view text, rdrs::batch& into) {
    const document read{text};
    try {
      yyjson_val* const operations = array_in(read.root(), "operations");
      into.operations.resize(yyjson_arr_size(operations));
      std::size_t i, max, k, most;
      yyjson_val *each, *item;
      yyjson_arr_foreach(operations, i, max, each) {
        rdrs::operation& operation = into.operations[i];
        operation.method = text_in(each, "method");
        operation.relative_url = text_in(each, "relative-url");
        yyjson_val* const body = yyjson_obj_get(each, "body");
        yyjson_val* const filters = array_in(body, "filters");
        operation.body.filters.resize(yyjson_arr_size(filters));
        yyjson_arr_foreach(filters, k, most, item) {
          operation.body.filters[k].column = text_in(item, "column");
          operation.body.filters[k].value = text_in(item, "value");
        }
        yyjson_val* const columns = array_in(body, "readColumns");
        operation.body.readColumns.resize(yyjson_arr_size(columns));
        yyjson_arr_foreach(columns, k, most, item) {
          operation.body.readColumns[k].column = text_in(item, "column");
          operation.body.readColumns[k].dataReturnType = text_in(item, "dataReturnType");
        }
        operation.body.operationId = text_in(body, "operationId");
      }
      return true;
    } catch (wrong_document) {
      return false;
    }
  }

  static void write(const rdrs::batch& batch, std::string& text) {
    // What it needs grows with the batch, and is kept.
    static thread_local const std::unique_ptr<yyjson_alc, decltype(&yyjson_alc_dyn_free)> memory{
        yyjson_alc_dyn_new(), &yyjson_alc_dyn_free};
    yyjson_mut_doc* const made = yyjson_mut_doc_new(memory.get());
    yyjson_mut_val* const root = yyjson_mut_obj(made);
    yyjson_mut_doc_set_root(made, root);
    yyjson_mut_val* const operations = yyjson_mut_obj_add_arr(made, root, "operations");
    for (const rdrs::operation& each : batch.operations) {
      yyjson_mut_val* const operation = yyjson_mut_arr_add_obj(made, operations);
      add_text(made, operation, "method", each.method);
      add_text(made, operation, "relative-url", each.relative_url);
      yyjson_mut_val* const body = yyjson_mut_obj_add_obj(made, operation, "body");
      yyjson_mut_val* const filters = yyjson_mut_obj_add_arr(made, body, "filters");
      for (const rdrs::filter& given : each.body.filters) {
        yyjson_mut_val* const filter = yyjson_mut_arr_add_obj(made, filters);
        add_text(made, filter, "column", given.column);
        add_text(made, filter, "value", given.value);
      }
      yyjson_mut_val* const columns = yyjson_mut_obj_add_arr(made, body, "readColumns");
      for (const rdrs::read_column& given : each.body.readColumns) {
        yyjson_mut_val* const column = yyjson_mut_arr_add_obj(made, columns);
        add_text(made, column, "column", given.column);
        add_text(made, column, "dataReturnType", given.dataReturnType);
      }
      add_text(made, body, "operationId", each.body.operationId);
    }
    std::size_t size = 0;
    char* const written =
        yyjson_mut_write_opts(made, YYJSON_WRITE_NOFLAG, memory.get(), &size, nullptr);
    text.append(written, size);
    memory->free(memory->ctx, written);
    yyjson_mut_doc_free(made);
  }
};

}  // namespace

int main(int, char** argv) { return rdrs::serve<yyjson_library>(argv[1]); }
