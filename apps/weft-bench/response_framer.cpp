#include "response_framer.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft::bench {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view blank_line = "\r\n\r\n";

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The last element of a comma-separated list (RFC 9110 section 5.6.1).
std::string_view last_element(std::string_view list) {
  const std::size_t comma = list.rfind(',');
  return trimmed(comma == list.npos ? list : list.substr(comma + 1));
}

bool has_element(std::string_view list, std::string_view element) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equal_ignoring_case(trimmed(list.substr(0, comma)), element)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool parse_status_line(std::string_view line, framing& result) {
  // HTTP/1.1 200 OK
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return false;
  if (line[7] != '0' && line[7] != '1') return false;
  if (line.size() > 12 && line[12] != ' ') return false;
  const char* const end = line.data() + 12;
  const auto read = std::from_chars(line.data() + 9, end, result.status);
  result.keeps_alive = line[7] == '1';
  return read.ec == std::errc{} && read.ptr == end && result.status >= 100;
}

// What the fields seen so far say; they only mean something together.
struct fields {
  bool has_length = false;
  bool chunked = false;
  bool other_coding = false;
};

bool parse_field(std::string_view line, fields& seen, framing& result) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || colon == 0) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));

  if (equal_ignoring_case(name, "content-length")) {
    std::uint64_t length = 0;
    const char* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, length);
    if (read.ec != std::errc{} || read.ptr != end) return false;
    if (seen.has_length && length != result.length) return false;
    seen.has_length = true;
    result.length = length;
  } else if (equal_ignoring_case(name, "transfer-encoding")) {
    seen.chunked = equal_ignoring_case(last_element(value), "chunked");
    seen.other_coding = !seen.chunked;
  } else if (equal_ignoring_case(name, "connection")) {
    if (has_element(value, "close")) result.keeps_alive = false;
    if (has_element(value, "keep-alive")) result.keeps_alive = true;
  }
  return true;
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  const char lower = static_cast<char>(letter | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

bool parse_head(std::string_view head, bool answers_head, framing& result) {
  result = {};
  std::size_t end = head.find(line_end);
  if (end == head.npos || !parse_status_line(head.substr(0, end), result)) return false;

  fields seen;
  for (head.remove_prefix(end + 2); !head.starts_with(line_end); head.remove_prefix(end + 2)) {
    end = head.find(line_end);
    if (end == head.npos || !parse_field(head.substr(0, end), seen, result)) return false;
  }

  const bool never_has_body =
      answers_head || result.status < 200 || result.status == 204 || result.status == 304;
  if (never_has_body) {
    result.length = 0;
  } else if (seen.chunked) {
    if (seen.has_length) return false;  // the two contradict each other: request smuggling
    result.ends = framing::body::chunked;
  } else if (seen.other_coding || !seen.has_length) {
    result.ends = framing::body::until_close;
    result.keeps_alive = false;
  }
  return true;
}

void response_framer::reset() {
  part_ = part::head;
  done_ = false;
  partial_head_.clear();
}

response_framer::step response_framer::feed(std::string_view bytes, bool answers_head) {
  std::string_view rest = bytes;
  done_ = false;
  answers_head_ = answers_head;
  bool valid = true;
  while (valid && !done_ && !rest.empty()) {
    switch (part_) {
      case part::head: valid = take_head(rest); break;
      case part::counted: take_data(rest, part::head); break;
      case part::until_close: rest = {}; break;
      case part::chunk_size:
      case part::chunk_extension: valid = take_chunk_size(rest); break;
      case part::chunk_data: take_data(rest, part::chunk_end); break;
      case part::chunk_end: valid = take_chunk_end(rest); break;
      case part::trailer: take_trailer(rest); break;
    }
  }
  const std::size_t used = bytes.size() - rest.size();
  if (!valid) return {progress::malformed, used};
  return {done_ ? progress::complete : progress::incomplete, used};
}

bool response_framer::take_head(std::string_view& rest) {
  if (partial_head_.empty() && !known_->bytes.empty() && known_->answers_head == answers_head_ &&
      rest.starts_with(known_->bytes)) {
    current_ = known_->means;
    rest.remove_prefix(known_->bytes.size());
    begin_body();
    return true;
  }
  // The blank line may be cut in two: look again at the last three bytes.
  const std::size_t before = partial_head_.size();
  const std::size_t overlap = std::min<std::size_t>(before, 3);
  const std::size_t room = head_limit - before;
  partial_head_ += rest.substr(0, room);
  const std::size_t found = partial_head_.find(blank_line, before - overlap);
  if (found == partial_head_.npos) {
    const bool fits = rest.size() < room;
    rest = {};
    return fits;
  }
  partial_head_.resize(found + blank_line.size());
  rest.remove_prefix(partial_head_.size() - before);
  if (!parse_head(partial_head_, answers_head_, current_)) return false;
  const bool interim = current_.status < 200;
  if (!interim) {
    known_->bytes.swap(partial_head_);
    known_->answers_head = answers_head_;
    known_->means = current_;
    begin_body();
  }
  partial_head_.clear();
  return true;
}

void response_framer::begin_body() {
  left_ = current_.length;
  line_ = 0;
  switch (current_.ends) {
    case framing::body::counted:
      part_ = left_ == 0 ? part::head : part::counted;
      done_ = left_ == 0;
      break;
    case framing::body::chunked:
      part_ = part::chunk_size;
      left_ = 0;
      break;
    case framing::body::until_close: part_ = part::until_close; break;
  }
}

void response_framer::take_data(std::string_view& rest, part next) {
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
  rest.remove_prefix(taken);
  left_ -= taken;
  if (left_ != 0) return;
  part_ = next;
  done_ = next == part::head;
}

// RFC 9112 section 7.1: 1*HEXDIG [ ";" extension ] CRLF
bool response_framer::take_chunk_size(std::string_view& rest) {
  constexpr std::uint8_t most_digits = 15;
  while (!rest.empty()) {
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == '\n') {
      if (line_ == 0) return false;
      part_ = left_ == 0 ? part::trailer : part::chunk_data;
      line_ = 0;
      return true;
    }
    if (part_ == part::chunk_extension) continue;
    const int digit = hex_digit(letter);
    if (digit >= 0) {
      if (++line_ > most_digits) return false;
      left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    } else if (letter == ';' || letter == '\r' || letter == ' ' || letter == '\t') {
      part_ = part::chunk_extension;
    } else {
      return false;
    }
  }
  return true;
}

bool response_framer::take_chunk_end(std::string_view& rest) {
  const char letter = rest.front();
  rest.remove_prefix(1);
  if (letter == '\r') return true;
  part_ = part::chunk_size;
  line_ = 0;
  return letter == '\n';
}

// Lines up to and with an empty one.
void response_framer::take_trailer(std::string_view& rest) {
  while (!rest.empty()) {
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == '\r') continue;
    if (letter != '\n') {
      line_ = 1;
    } else if (line_ == 0) {
      part_ = part::head;
      done_ = true;
      return;
    } else {
      line_ = 0;
    }
  }
}

}  // namespace weft::bench
