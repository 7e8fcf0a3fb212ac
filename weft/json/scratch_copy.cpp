#include <weft/json/scratch_copy.hpp>

#include <string>
#include <utility>

#include <weft/base/thread_owned.hpp>

namespace weft::json::detail {

namespace {

struct spare_text {
  std::string text;
};

}  // namespace

scratch_copy::scratch_copy(std::string_view text)
    : text_(std::exchange(thread_owned<spare_text>::here().text, {})) {
  text_.assign(text);
}

scratch_copy::~scratch_copy() {
  spare_text* const spare = thread_owned<spare_text>::find();
  if (spare != nullptr && text_.capacity() <= max_kept_bytes) spare->text = std::move(text_);
}

}  // namespace weft::json::detail
