#include <weft/http/client/http2_call.hpp>

#include <array>
#include <charconv>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/client/call_fields.hpp>

namespace weft::http {

bool http2_call::leave() noexcept {
  if (session_ != nullptr) std::exchange(session_, nullptr)->leave(*this);
  return false;
}

// ---- the request ------------------------------------------------------------------------------

void http2_call::submit(const environment& caller, bool has_body) {
  asked_at_ = core_.loop.now();
  const call_fields of_caller{caller, asked_at_, core_.options.timeout_field};
  http2::pooled_text path;
  if (!to_.target.starts_with('/')) path.append("/");
  path.append(to_.target);
  http2::pooled_text lines;
  if (!core_.options.user_agent.empty()) {
    lines.append("user-agent: ");
    lines.append(core_.options.user_agent);
    lines.append("\r\n");
  }
  lines.append(asked_.fields);
  lines.append(core_.cookie_line(to_, asked_.fields));
  if (asks_for_codings()) lines.append("accept-encoding: gzip, br, zstd\r\n");
  for (const std::string_view part : of_caller.parts()) lines.append(part);
  if (const std::size_t size = path.size() + lines.size(); size > http2::fields_most_bytes) {
    fault_ = request_fault{
        errc::limit_exceeded,
        weft::format("the request's target and fields have {} bytes: over HTTP/2 {} are sent", size,
                     http2::fields_most_bytes)};
    is_closed_ = true;
    return;
  }
  std::array<char, 20> length{};
  http2::field_block& fields = session_->fields();
  fields.begin(lines.size());
  fields.add(":method", to_string(asked_.how));
  fields.add(":scheme", to_string(to_.scheme));
  fields.add(":authority", to_.authority);
  fields.add(":path", path.view());
  if (asked_.length || (asked_.has_body && !asked_.is_streamed)) {
    const std::uint64_t bytes = asked_.length.value_or(asked_.body.size());
    const char* const end = std::to_chars(length.data(), length.data() + length.size(), bytes).ptr;
    fields.add("content-length", {length.data(), end});
  }
  fields.add_lines(lines.view());
  session_->submit(*this, has_body);
}

task<void> http2_call::send() {
  unsent_ = asked_.body;
  gives_no_more_ = true;
  submit(co_await this_task::environment(), !unsent_.empty());
}

task<void> http2_call::begin_upload() { submit(co_await this_task::environment(), true); }

task<result<void>> http2_call::write(std::string_view piece) {
  unsent_ = piece;
  session_->resume(*this);
  while (!unsent_.empty() && !is_answered()) {
    changed_.reset();
    const auto changed = co_await changed_.wait();
    if (changed) continue;
    // The piece will not be there any more.
    unsent_ = {};
    session_->leave(*this);
    take_close({.why = changed.error()});
    co_return changed;
  }
  const std::string_view rest = std::exchange(unsent_, {});
  if (rest.empty()) co_return result<void>{};
  // A frame of it may have been begun, which leaves when there is room.
  rest_.append(rest.substr(0, http2::frame_most_bytes));
  unsent_ = rest_.view();
  co_return fail(errc::closed);
}

void http2_call::end_upload() {
  gives_no_more_ = true;
  session_->resume(*this);
}

void http2_call::note_sent(std::size_t size_bytes) noexcept {
  unsent_.remove_prefix(size_bytes);
  if (unsent_.empty()) changed_.set();
}

// ---- the response -----------------------------------------------------------------------------

void http2_call::take_field(std::string_view name, std::string_view value) {
  received_ += name.size() + value.size();
  // What is longer than is allowed is not kept, but for as much as shows it.
  if (has_head_ || fault_ || head_text_.size() > bounds_.head_bytes) return;
  if (name == ":status") {
    head_text_.append("HTTP/1.1 ");
    head_text_.append(value);
    head_text_.append(" ");
  } else {
    head_text_.append(name);
    head_text_.append(": ");
    head_text_.append(value);
  }
  head_text_.append("\r\n");
}

void http2_call::take_fields_end() {
  if (has_head_ || fault_) return;  // trailers, or what nobody hears any more
  head_text_.append("\r\n");
  auto parsed = parse_head();
  if (!parsed) {
    fault_ = std::move(parsed.error());
  } else if (*parsed) {
    has_head_ = true;
  } else {
    head_text_.clear();  // of 1xx: the last is still to come
  }
  if (!parsed || *parsed) changed_.set();
}

void http2_call::take_data(std::string_view piece) {
  received_ += piece.size();
  coming_.append(piece);
  changed_.set();
}

void http2_call::take_end() noexcept {
  has_ended_ = true;
  changed_.set();
}

void http2_call::take_close(const http2::stream_closing& how) noexcept {
  is_closed_ = true;
  closing_ = how;
  changed_.set();
}

request_fault http2_call::broken(std::string_view where) const {
  if (closing_.code == 0) return broken_off(closing_.why, where);
  if (closing_.is_ours)
    return {closing_.why,
            weft::format("the response breaks the rules of HTTP/2 within its {}: this client has "
                         "reset the stream: {}",
                         where, http2::name_of_code(closing_.code))};
  return broken_off(
      closing_.why,
      weft::format("the server has reset the stream: {}", http2::name_of_code(closing_.code)),
      where);
}

task<result<void>> http2_call::change() {
  changed_.reset();
  const auto changed = co_await changed_.wait();
  // A connection that is silent when its requests run out of time is not to be lent again.
  if (!changed && changed.error() == errc::timed_out) session_->doubt(asked_at_);
  co_return changed;
}

task<client_call::outcome<void>> http2_call::read_head() {
  while (!has_head_) {
    if (fault_) co_return std::unexpected{std::move(*fault_)};
    if (is_closed_) co_return std::unexpected{broken("head")};
    const auto changed = co_await change();
    if (!changed) co_return std::unexpected{broken_off(changed.error(), "head")};
  }
  co_return outcome<void>{};
}

task<client_call::outcome<std::string_view>> http2_call::read() {
  if (session_ != nullptr) session_->consume(*this, reading_.size());
  reading_.clear();
  while (coming_.size() == 0) {
    if (has_ended_) co_return std::string_view{};
    if (is_closed_) co_return std::unexpected{broken("body")};
    const auto changed = co_await change();
    if (!changed) co_return std::unexpected{broken_off(changed.error(), "body")};
  }
  std::swap(reading_, coming_);
  given_ += reading_.size();
  if (given_ > bounds_.body_bytes)
    co_return std::unexpected{malformed(describe(fault_kind::body_too_large, given_), true)};
  co_return reading_.view();
}

}  // namespace weft::http
