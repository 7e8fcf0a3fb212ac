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

// Without a branch, so that the compiler looks at many characters at once.
bool needs_escapes(std::string_view text) noexcept {
  bool found = false;
  for (const char c : text) found |= (c == '\n') | (c == '\\') | (c == '"');
  return found;
}

// Backslashes and line ends; in label values quotes, too.
void append_escaped(std::string& out, std::string_view text, bool quotes_too) {
  if (!needs_escapes(text)) {
    out.append(text);
    return;
  }
  for (const char c : text) {
    if (c == '\n') {
      out.append("\\n");
      continue;
    }
    if (c == '\\' || (c == '"' && quotes_too)) out.push_back('\\');
    out.push_back(c);
  }
}

// The name, and the labels without a closing brace. What the next label begins with.
std::string_view append_opening(std::string& out, const series& of, std::string_view suffix) {
  out.append(of.name).append(suffix);
  std::string_view before = "{";
  for (const auto& [name, text] : of.labels) {
    out.append(before).append(name).append("=\"");
    append_escaped(out, text, true);
    out.push_back('"');
    before = ",";
  }
  return before;
}

void append_line(std::string& out, const series& of, std::string_view suffix,
                 const number_text& value) {
  append_opening(out, of, suffix);
  out.append(of.labels.empty() ? " " : "} ").append(value.text()).append("\n");
}

// All buckets' lines begin alike, and each counts the values of those before it, too.
void append_buckets(std::string& out, const series& of) {
  std::string opening;
  opening.append(append_opening(opening, of, "_bucket")).append("le=\"");
  const auto append_bucket = [&](std::string_view bound, std::uint64_t count) {
    out.append(opening).append(bound).append("\"} ").append(number_text{count}.text());
    out.push_back('\n');
  };
  std::uint64_t last = (std::uint64_t{1} << first_bound_bits) - 1;
  std::uint64_t seen = of.values.count_up_to(last);
  append_bucket(number_text{last}.text(), seen);
  for (int bits = first_bound_bits + 1; bits <= last_bound_bits; ++bits) {
    const std::uint64_t bound = (std::uint64_t{1} << bits) - 1;
    seen += of.values.count_between(last, bound);
    append_bucket(number_text{bound}.text(), seen);
    last = bound;
  }
  append_bucket("+Inf", of.values.count());
}

void append_histogram(std::string& out, const series& of) {
  append_buckets(out, of);
  append_line(out, of, "_sum", number_text{of.values.sum()});
  append_line(out, of, "_count", number_text{of.values.count()});
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
      append_line(out, each, {}, number_text{each.value});
  }
}

}  // namespace weft::telemetry
