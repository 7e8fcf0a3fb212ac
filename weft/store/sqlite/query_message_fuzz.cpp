// Any bytes from a process that runs queries, which may be anybody's by then: what is read is told
// to a sink, and no larger than what came.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/store/json_value.hpp>
#include <weft/store/sqlite/query_message.hpp>

namespace {

using weft::store::sqlite::query_answer;

void tell(const query_answer& answer, std::span<const weft::store::column> columns,
          std::string_view body) {
  if (answer.values.size() > body.size() || answer.message.size() > body.size()) std::abort();
  if (answer.values.size() != answer.rows * columns.size()) std::abort();
  std::string json;
  for (std::size_t i = 0; i < answer.values.size(); ++i) {
    weft::store::append_json(answer.values[i], columns[i % columns.size()], json);
    json += ',';
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body{reinterpret_cast<const char*>(data), size};
  static_cast<void>(weft::store::sqlite::read_greeting(body));
  static_cast<void>(weft::store::sqlite::read_command(body));
  const auto first = weft::store::sqlite::read_answer(body, std::nullopt);
  if (first && first->columns) tell(*first, *first->columns, body);
  const weft::store::column known[] = {{.name = "a"}, {.name = "b"}};
  if (const auto next = weft::store::sqlite::read_answer(body, 2)) tell(*next, known, body);
  return 0;
}
