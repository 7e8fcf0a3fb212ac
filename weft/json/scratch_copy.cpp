#include <weft/json/scratch_copy.hpp>

#include <utility>

namespace weft::json::detail {

namespace {

std::string& spare() {
  thread_local std::string text;
  return text;
}

}  // namespace

scratch_copy::scratch_copy(std::string_view text) : text_(std::exchange(spare(), {})) {
  text_.assign(text);
}

scratch_copy::~scratch_copy() {
  if (text_.capacity() <= max_kept_bytes) spare() = std::move(text_);
}

}  // namespace weft::json::detail
