#include <weft/telemetry/prometheus.hpp>

#include <array>
#include <charconv>
#include <cstdint>

namespace weft::telemetry {
namespace {

constexpr int first_bound_bits = 8;
constexpr int last_bound_bits = 36;

// A number's digits.
class number_text {
 public:
  explicit number_text(auto number) noexcept {
    const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr;
    size_ = static_cast<std::size_t>(end - digits_.data());
  }
  [[nodiscard]] std::string_view text() const noexcept { return {digits_.data(), size_}; }

 private:
  std::array<char, 20> digits_;
  std::size_t size_;
};

// Backslashes and line ends; in label values quotes, too.
void append_escaped(std::string& out, std::string_view text, bool quotes_too) {
  for (char c : text) {
    if (c == '\n') {
      out.append("\\n");
      continue;
    }
    if (c == '\\' || (c == '"' && quotes_too)) out.push_back('\\');
    out.push_back(c);
  }
}

// One line; `bound` is the value of "le", where there is one.
void append_line(std::string& out, const series& of, std::string_view suffix,
                 std::string_view bound, const number_text& value) {
  out.append(of.name).append(suffix);
  std::string_view before = "{";
  for (const auto& [name, text] : of.labels) {
    out.append(before).append(name).append("=\"");
    append_escaped(out, text, true);
    out.push_back('"');
    before = ",";
  }
  if (!bound.empty()) {
    out.append(before).append("le=\"").append(bound).append("\"");
    before = ",";
  }
  if (before == ",") out.push_back('}');
  out.append(" ").append(value.text()).append("\n");
}

void append_histogram(std::string& out, const series& of) {
  for (int bits = first_bound_bits; bits <= last_bound_bits; ++bits) {
    const std::uint64_t bound = (std::uint64_t{1} << bits) - 1;
    append_line(out, of, "_bucket", number_text{bound}.text(),
                number_text{of.values.count_up_to(bound)});
  }
  append_line(out, of, "_bucket", "+Inf", number_text{of.values.count()});
  append_line(out, of, "_sum", {}, number_text{of.values.sum()});
  append_line(out, of, "_count", {}, number_text{of.values.count()});
}

}  // namespace

void append_prometheus(const snapshot& from, std::string& out) {
  std::string_view last;
  for (const series& each : from.all) {
    if (each.name != last) {
      out.append("# HELP ").append(each.name).append(" ");
      append_escaped(out, each.help, false);
      out.append("\n# TYPE ").append(each.name).append(" ").append(to_string(each.kind));
      out.push_back('\n');
      last = each.name;
    }
    if (each.kind == series_kind::histogram)
      append_histogram(out, each);
    else
      append_line(out, each, {}, {}, number_text{each.value});
  }
}

}  // namespace weft::telemetry
