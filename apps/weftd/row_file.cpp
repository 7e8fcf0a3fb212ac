#include <apps/weftd/row_file.hpp>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <unordered_set>

#include <weft/base/format.hpp>
#include <weft/base/utf8.hpp>

#include <apps/weftd/foreign_stream.hpp>

namespace weftd {
namespace {

namespace json = weft::json;
namespace store = weft::store;

constexpr std::size_t piece_bytes = 1024 * 1024;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string reason() { return std::generic_category().message(errno); }

store::json_kind kind_of(json::scalar_kind kind) noexcept {
  switch (kind) {
    case json::scalar_kind::boolean: return store::json_kind::boolean;
    case json::scalar_kind::number: return store::json_kind::number;
    case json::scalar_kind::string: return store::json_kind::string;
    case json::scalar_kind::null: break;
  }
  return store::json_kind::null;
}

/// A line of JSON ends where it ends.
csv_extent find_line(std::string_view text, bool is_all) noexcept {
  const std::size_t end = text.find('\n');
  if (end != std::string_view::npos)
    return {.state = csv_state::whole, .size = end + 1, .lines = 1};
  if (!is_all) return {.state = csv_state::incomplete};
  return {.state = csv_state::whole, .size = text.size(), .lines = text.empty() ? 0U : 1U};
}

/// In CSV blanks are a field.
bool is_no_record(std::string_view text, row_format format) noexcept {
  const std::string_view nothing = format == row_format::csv ? "\r\n" : " \t\r\n";
  return text.find_first_not_of(nothing) == std::string_view::npos;
}

}  // namespace

row_file::row_file(row_source from) noexcept : from_{std::move(from)} {}

std::expected<row_file, std::string> row_file::open(row_source from) {
  row_file made{std::move(from)};
  const bool is_open = made.open() && made.read_names() && made.go_to(made.from_.from);
  if (!is_open) return std::unexpected{std::move(made.fault_)};
  return made;
}

bool row_file::open() {
  file_.reset(from_.path == "-" ? stdin : std::fopen(from_.path.c_str(), "rbe"));
  struct stat facts{};
  if (!file_ || ::fstat(::fileno(file_.get()), &facts) != 0) {
    fault_ = weft::format("{} cannot be read: {}", from_.path, reason());
    return false;
  }
  if (S_ISDIR(facts.st_mode)) {
    fault_ = weft::format("{} is a folder", from_.path);
    return false;
  }
  is_regular_ = S_ISREG(facts.st_mode);
  if (is_regular_) size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  changed_ns_ = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (!read_more()) return false;
  if (rest().starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  place_.offset_bytes = at_;
  return true;
}

bool row_file::read_names() {
  if (from_.format != row_format::csv) return true;
  std::string_view record;
  row_outcome taken;
  do taken = take_record(record);
  while (taken == row_outcome::row && is_no_record(record, from_.format));
  if (taken == row_outcome::end) fault_ = weft::format("{} is empty", from_.path);
  if (taken != row_outcome::row) {
    fault_ = weft::format("{}:{}: {}", from_.path, line_, fault_);
    return false;
  }
  store::scratch room;
  split_record(record, from_.separator, room, fields_);
  std::unordered_set<std::string_view> seen;
  for (const csv_field& each : fields_) {
    if (!weft::is_utf8(each.text))
      fault_ = weft::format("{}:{}: a column's name is no UTF-8", from_.path, line_);
    else if (!seen.insert(each.text).second)
      fault_ = weft::format("{}:{}: two columns are called '{}'", from_.path, line_, each.text);
    names_.emplace_back(each.text);
  }
  return fault_.empty();
}

bool row_file::go_to(const row_place& where) {
  if (where == row_place{}) return true;
  if (::lseek(::fileno(file_.get()), static_cast<off_t>(where.offset_bytes), SEEK_SET) < 0) {
    fault_ = weft::format("{} cannot be gone on with: {}", from_.path, reason());
    return false;
  }
  buffer_.clear();
  at_ = 0;
  is_all_ = false;
  place_ = where;
  return true;
}

row_outcome row_file::next(store::scratch& room) {
  for (;;) {
    std::string_view record;
    if (const row_outcome taken = take_record(record); taken != row_outcome::row) return taken;
    if (is_no_record(record, from_.format)) continue;
    return from_.format == row_format::csv ? take_fields(record, room) : take_object(record);
  }
}

csv_extent row_file::find_next() const noexcept {
  return from_.format == row_format::csv ? find_record(rest(), from_.separator, is_all_)
                                         : find_line(rest(), is_all_);
}

row_outcome row_file::take_record(std::string_view& record) {
  csv_extent found = find_next();
  line_ = place_.line;
  while (found.state == csv_state::incomplete && rest().size() <= record_bytes_max) {
    if (!read_more()) return row_outcome::failed;
    found = find_next();
  }
  // Wherever the pieces end in which it came.
  const std::size_t size = found.state == csv_state::incomplete ? rest().size() : found.size;
  if (size > record_bytes_max) {
    fault_ = weft::format("a record of more than {} MiB: is a quote without its pair?",
                          record_bytes_max >> 20U);
    return row_outcome::failed;
  }
  record = rest().substr(0, found.size);
  at_ += found.size;
  place_.offset_bytes += found.size;
  place_.line += found.lines;
  if (found.state == csv_state::malformed) return refuse(std::string{found.fault});
  if (found.state == csv_state::unclosed) {
    fault_ = "a quote without its pair: all that comes behind it would be one field";
    return row_outcome::failed;
  }
  return found.size == 0 ? row_outcome::end : row_outcome::row;
}

/// What has been taken goes, and the next piece comes behind what is left.
bool row_file::read_more() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t kept = buffer_.size();
  const std::size_t more = std::max(piece_bytes, kept);  // so that a long record is copied seldom
  const int fd = ::fileno(file_.get());
  if (!is_regular_) wait_for(fd, POLLIN);
  ssize_t read = 0;
  buffer_.resize_and_overwrite(kept + more, [&](char* text, std::size_t) {
    read = ::read(fd, text + kept, more);
    return kept + static_cast<std::size_t>(std::max<ssize_t>(read, 0));
  });
  if (read < 0) fault_ = weft::format("{} cannot be read: {}", from_.path, reason());
  is_all_ = read == 0;
  return read >= 0;
}

row_outcome row_file::refuse(std::string why) {
  fault_ = std::move(why);
  return row_outcome::wrong;
}

row_outcome row_file::take_fields(std::string_view record, store::scratch& room) {
  split_record(record, from_.separator, room, fields_);
  if (fields_.size() != names_.size())
    return refuse(weft::format("{} fields, and not {}", fields_.size(), names_.size()));
  cells_.clear();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto& [text, is_quoted] = fields_[i];
    if (!weft::is_utf8(text)) return refuse(weft::format("{} is no UTF-8", names_[i]));
    const bool is_null = text.empty() && !is_quoted;
    cells_.push_back({names_[i],
                      {is_null ? store::json_kind::null : store::json_kind::string, text},
                      !is_quoted});
  }
  return row_outcome::row;
}

row_outcome row_file::take_object(std::string_view record) {
  members_.clear();
  if (const auto read = json::read_lent(members_, record, document_); !read)
    return refuse(read.error().message());
  cells_.clear();
  for (const auto& [name, value] : members_)
    cells_.push_back({.column = name, .value = {kind_of(value.kind()), value.view()}});
  return row_outcome::row;
}

}  // namespace weftd
