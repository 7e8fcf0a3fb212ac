#include <apps/weftd/csv.hpp>

#include <algorithm>
#include <span>

namespace weftd {
namespace {

constexpr char quote = '"';

bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

/// A look at a text from its beginning, which never goes back.
class csv_scan {
 public:
  csv_scan(std::string_view text, char separator, bool is_all) noexcept
      : text_{text}, separator_{separator}, is_all_{is_all} {}

  csv_extent find() noexcept {
    for (;;) {
      if (at_ < text_.size() && text_[at_] == quote) {
        const csv_state state = skip_quoted();
        if (state != csv_state::whole)
          return {.state = state, .size = at_, .lines = lines_, .fault = fault_};
      } else if (!skip_bare()) {
        return malformed("a quote within a field that does not begin with one");
      }
      if (at_ == text_.size()) return end();
      if (text_[at_] == separator_) {
        ++at_;
        continue;
      }
      return take_line_end();
    }
  }

 private:
  /// Behind the closing quote.
  csv_state skip_quoted() noexcept {
    for (++at_;; ++at_) {
      const std::size_t next = text_.find_first_of("\"\n", at_);
      if (next == std::string_view::npos) {
        at_ = text_.size();
        ++lines_;
        return is_all_ ? csv_state::unclosed : csv_state::incomplete;
      }
      at_ = next;
      if (text_[at_] == '\n') {
        ++lines_;
        continue;
      }
      if (at_ + 1 == text_.size() && !is_all_) return csv_state::incomplete;
      if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) break;
      ++at_;
    }
    ++at_;
    if (at_ == text_.size() || text_[at_] == separator_ || is_line_end(text_[at_]))
      return csv_state::whole;
    return malformed("text behind a closing quote").state;
  }

  /// False: there is a quote in it.
  bool skip_bare() noexcept {
    while (at_ < text_.size() && text_[at_] != separator_ && !is_line_end(text_[at_])) {
      if (text_[at_] == quote) return false;
      ++at_;
    }
    return true;
  }

  csv_extent end() const noexcept {
    if (!is_all_) return {.state = csv_state::incomplete};
    return {.state = csv_state::whole, .size = at_, .lines = at_ == 0 ? 0 : lines_ + 1};
  }

  csv_extent take_line_end() noexcept {
    if (text_[at_] == '\r') {
      if (at_ + 1 == text_.size() && !is_all_) return {.state = csv_state::incomplete};
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '\n')
        return malformed("a carriage return without a line feed");
      ++at_;
    }
    return {.state = csv_state::whole, .size = at_ + 1, .lines = lines_ + 1};
  }

  /// The next record begins with the next line.
  csv_extent malformed(std::string_view why) noexcept {
    fault_ = why;
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos && !is_all_) return {.state = csv_state::incomplete};
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    return {.state = csv_state::malformed, .size = at_, .lines = ++lines_, .fault = why};
  }

  std::string_view text_;
  char separator_;
  bool is_all_;
  std::size_t at_ = 0;
  std::size_t lines_ = 0;  // that have ended
  std::string_view fault_;
};

/// Of the quoted field whose opening quote stands at `at`, which moves behind the closing one.
std::string_view decode_quoted(std::string_view record, std::size_t& at,
                               weft::store::scratch& room) {
  const std::size_t start = ++at;
  std::size_t doubled = 0;
  while (record[at] != quote || (at + 1 < record.size() && record[at + 1] == quote)) {
    if (record[at] == quote) {
      ++doubled;
      ++at;
    }
    ++at;
  }
  const std::string_view raw = record.substr(start, at - start);
  ++at;
  if (doubled == 0) return raw;
  const std::span<char> made = room.make(raw.size() - doubled);
  std::size_t size = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    made[size++] = raw[i];
    if (raw[i] == quote) ++i;
  }
  return {made.data(), size};
}

}  // namespace

csv_extent find_record(std::string_view text, char separator, bool is_all) noexcept {
  return csv_scan{text, separator, is_all}.find();
}

void split_record(std::string_view record, char separator, weft::store::scratch& room,
                  std::vector<csv_field>& into) {
  into.clear();
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  if (record.empty()) return;
  for (std::size_t at = 0;; ++at) {
    if (at < record.size() && record[at] == quote) {
      const std::string_view text = decode_quoted(record, at, room);
      into.push_back({text, true});
    } else {
      const std::size_t end = std::min(record.find(separator, at), record.size());
      into.push_back({record.substr(at, end - at), false});
      at = end;
    }
    if (at >= record.size()) return;
  }
}

}  // namespace weftd
