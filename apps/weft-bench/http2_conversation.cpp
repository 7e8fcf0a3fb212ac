#include "http2_conversation.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>

namespace weft::bench {
namespace {

// So large that the generator has no reason to say when it has read.
constexpr std::int32_t window_bytes = 1 << 30;
constexpr std::size_t output_most_bytes = 64 * 1024;

nghttp2_nv pair_of(const load_field& field) {
  // nghttp2 knows no const, and changes nothing.
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

}  // namespace

// What nghttp2 calls, within take() and unsent().
struct http2_callbacks {
  using stream = http2_conversation::stream;

  static stream* stream_of(nghttp2_session* session, std::int32_t id) {
    return static_cast<stream*>(::nghttp2_session_get_stream_user_data(session, id));
  }
  static http2_conversation& self(void* user) { return *static_cast<http2_conversation*>(user); }

  static int on_header(nghttp2_session* session, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t, void*) {
    const std::string_view field{reinterpret_cast<const char*>(name), name_size};
    stream* const on = stream_of(session, frame->hd.stream_id);
    if (field != ":status" || on == nullptr) return 0;
    const char* const text = reinterpret_cast<const char*>(value);
    std::from_chars(text, text + value_size, on->status);
    return 0;
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) self(user).is_leaving_ = true;
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    stream* const on = stream_of(session, frame->hd.stream_id);
    if (on == nullptr) return 0;
    ::nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, nullptr);
    self(user).complete(*on);
    return 0;
  }

  static int on_close(nghttp2_session* session, std::int32_t id, std::uint32_t error, void* user) {
    stream* const on = stream_of(session, id);
    if (on != nullptr) self(user).lose(*on, error);
    return 0;
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* room, std::size_t size,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    stream& on = *static_cast<stream*>(source->ptr);
    const std::string_view rest =
        std::string_view{on.reply.to->bytes}.substr(on.body_sent).substr(0, size);
    std::ranges::copy(rest, room);
    on.body_sent += rest.size();
    if (on.body_sent == on.reply.to->bytes.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(rest.size());
  }

  static nghttp2_session_callbacks* make() {
    nghttp2_session_callbacks* made = nullptr;
    if (::nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc{};
    ::nghttp2_session_callbacks_set_on_header_callback(made, &on_header);
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(made, &on_frame);
    ::nghttp2_session_callbacks_set_on_stream_close_callback(made, &on_close);
    return made;
  }
  // Those of all conversations.
  static const nghttp2_session_callbacks* all() {
    static const nghttp2_session_callbacks* const made = make();
    return made;
  }
};

http2_conversation::http2_conversation(std::size_t most, reply_listener& told)
    : conversation{told}, streams_(most) {
  for (stream& each : streams_) free_.push_back(&each);
}

http2_conversation::~http2_conversation() { ::nghttp2_session_del(session_); }

void http2_conversation::restart() {
  ::nghttp2_session_del(session_);
  session_ = nullptr;
  output_.clear();
  output_sent_ = 0;
  is_leaving_ = false;
  if (::nghttp2_session_client_new(&session_, http2_callbacks::all(), this) != 0)
    throw std::bad_alloc{};
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window_bytes}};
  ::nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  ::nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, window_bytes);
  for (stream& each : streams_)
    if (each.is_owed) submit(each);
}

void http2_conversation::ask(const owed_reply& reply) {
  stream& on = *free_.back();
  free_.pop_back();
  on = {.reply = reply, .is_owed = true};
  submit(on);
}

void http2_conversation::submit(stream& on) {
  const load_request& asked = *on.reply.to;
  on.body_sent = 0;
  on.status = 0;
  std::vector<nghttp2_nv> fields;
  fields.reserve(asked.fields.size());
  for (const load_field& each : asked.fields) fields.push_back(pair_of(each));
  const nghttp2_data_provider body{.source = {.ptr = &on},
                                   .read_callback = &http2_callbacks::read_body};
  on.is_asked = ::nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                         asked.bytes.empty() ? nullptr : &body, &on) > 0;
}

void http2_conversation::complete(stream& on) {
  told().on_reply(on.reply, on.status);
  free(on);
}

// What a peer that leaves has not begun is asked for again, on the next connection (RFC 9113
// section 6.8).
void http2_conversation::lose(stream& on, std::uint32_t error) {
  on.is_asked = false;
  if (is_leaving_ && error == NGHTTP2_REFUSED_STREAM) return;
  told().on_failure(on.reply);
  free(on);
}

void http2_conversation::free(stream& on) {
  on.is_owed = on.is_asked = false;
  free_.push_back(&on);
}

void http2_conversation::fill_output() {
  while (output_.size() < output_most_bytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = ::nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0) break;
    output_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

std::size_t http2_conversation::unsent(std::span<iovec> pieces) {
  fill_output();
  if (output_.empty()) return 0;
  pieces.front() = {.iov_base = output_.data() + output_sent_,
                    .iov_len = output_.size() - output_sent_};
  return 1;
}

void http2_conversation::advance(std::size_t sent_bytes) {
  output_sent_ += sent_bytes;
  if (output_sent_ != output_.size()) return;
  output_.clear();
  output_sent_ = 0;
}

conversation::verdict http2_conversation::take(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (::nghttp2_session_mem_recv(session_, data, bytes.size()) < 0) return verdict::malformed;
  fill_output();  // and with that the error that nghttp2 has found, after which it reads no more
  if (!is_leaving_)
    return ::nghttp2_session_want_read(session_) != 0 ? verdict::going_on : verdict::malformed;
  return end() == verdict::last_reply ? verdict::last_reply : verdict::going_on;
}

conversation::verdict http2_conversation::end() {
  const bool is_asked = std::ranges::any_of(streams_, &stream::is_asked);
  return is_leaving_ && !is_asked ? verdict::last_reply : verdict::closed;
}

std::size_t http2_conversation::owed_from(std::uint64_t due) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      streams_, [due](const stream& each) { return each.is_owed && each.reply.due >= due; }));
}

std::uint64_t http2_conversation::oldest() const {
  std::uint64_t since = UINT64_MAX;
  for (const stream& each : streams_)
    if (each.is_owed) since = std::min(since, each.reply.since);
  return since;
}

void http2_conversation::forget() {
  for (stream& each : streams_)
    if (each.is_owed) free(each);
}

}  // namespace weft::bench
