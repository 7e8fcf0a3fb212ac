#include <weft/service/log_value.hpp>

#include <weft/base/format.hpp>
#include <weft/service/config_text.hpp>

namespace weft::detail {

void log_value::append_to(std::string& out, std::string_view spec) const {
  if (spec.empty()) return append_formatted(out, "{}");
  const std::size_t before = out.size();
  try {
    append_formatted(out, weft::format("{{:{}}}", spec));
  } catch (const std::format_error&) {
    out.resize(before);
    append_formatted(out, "{}");
  }
}

void log_value::append_formatted(std::string& out, std::string_view format) const {
  const auto append = [&out, format](const auto& value) {
    out += weft::vformat(format, std::make_format_args(value));
  };
  switch (kind_) {
    case kind::boolean: return append(bits_ != 0);
    case kind::integer: return append(static_cast<std::int64_t>(bits_));
    case kind::unsigned_integer: return append(bits_);
    case kind::real: return append(real_);
    case kind::time: return append(time_text(static_cast<std::int64_t>(bits_)));
    case kind::text: return append(text_);
    case kind::pointer: return append(object_);
    case kind::writer: break;
  }
  std::string written;
  write_(object_, written);
  append(written);
}

}  // namespace weft::detail
