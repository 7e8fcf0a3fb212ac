#include <weft/testing/http2_client.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include <weft/http/http2/frame.hpp>

namespace weft::testing {
namespace {

std::string_view text_from(const std::uint8_t* text, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(text), size};
}

nghttp2_nv pair_of(std::string_view name, std::string_view value) noexcept {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));  // NOLINT
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

std::optional<std::string_view> http2_reply::field(std::string_view name) const noexcept {
  std::string_view left = head;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(line.size() + 1);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(": "))
      return line.substr(name.size() + 2);
  }
  return std::nullopt;
}

struct http2_client::callbacks {
  static http2_client& of(void* self) noexcept { return *static_cast<http2_client*>(self); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_bytes, const std::uint8_t* value, std::size_t value_bytes,
                       std::uint8_t, void* self) {
    http2_reply& reply = of(self).replies_[frame->hd.stream_id];
    const std::string_view field = text_from(name, name_bytes);
    const std::string_view text = text_from(value, value_bytes);
    if (field == ":status") {
      int status = 0;
      std::from_chars(text.data(), text.data() + text.size(), status);
      if (status < 200)
        reply.interim.push_back(status);
      else
        reply.status = status;
      return 0;
    }
    reply.head.append(field).append(": ").append(text).append("\n");
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* self) {
    of(self).replies_[id].body.append(text_from(data, size));
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    http2_client& client = of(self);
    const bool is_message = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (is_message && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      client.replies_[frame->hd.stream_id].is_whole = true;
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* self) {
    of(self).replies_[id].error = code;
    return 0;
  }
  static ssize_t on_read(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t most,
                         std::uint32_t* flags, nghttp2_data_source*, void* self) {
    outgoing& body = of(self).bodies_[id];
    if (body.text.empty() && !body.ends) return NGHTTP2_ERR_DEFERRED;
    const std::size_t size = std::min(most, body.text.size());
    std::copy_n(body.text.data(), size, into);
    body.text.erase(0, size);
    if (body.text.empty() && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
};

http2_client::http2_client(net::tcp_stream stream, const settings& chosen)
    : stream_{std::move(stream)} {
  const auto table = http::http2::make_callbacks();
  nghttp2_session_callbacks_set_on_header_callback(table.get(), &callbacks::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table.get(), &callbacks::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table.get(), &callbacks::on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(table.get(), &callbacks::on_close);
  const auto options = http::http2::make_options();
  nghttp2_option_set_no_http_messaging(options.get(), 1);
  nghttp2_option_set_no_auto_window_update(options.get(), chosen.takes_bodies ? 0 : 1);
  nghttp2_option_set_peer_max_concurrent_streams(options.get(), 1'000'000);
  nghttp2_session* made = nullptr;
  nghttp2_session_client_new3(&made, table.get(), this, options.get(),
                              http::http2::pooled_memory());
  library_.reset(made);
  const std::array entries{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, chosen.stream_window_bytes}};
  nghttp2_submit_settings(library_.get(), NGHTTP2_FLAG_NONE, entries.data(), entries.size());
}

http2_client::~http2_client() = default;

std::int32_t http2_client::begin(std::string_view method, std::string_view target,
                                 const fields& more, bool ends) {
  fields all{{":method", method}, {":scheme", "http"}, {":path", target}, {":authority", "test"}};
  all.insert(all.end(), more.begin(), more.end());
  return begin_with(all, ends);
}

std::int32_t http2_client::begin_with(const fields& all, bool ends) {
  std::vector<nghttp2_nv> pairs;
  for (const auto& [name, value] : all) pairs.push_back(pair_of(name, value));
  const nghttp2_data_provider body{.source = {}, .read_callback = &callbacks::on_read};
  return nghttp2_submit_request(library_.get(), nullptr, pairs.data(), pairs.size(),
                                ends ? nullptr : &body, nullptr);
}

void http2_client::give(std::int32_t id, std::string_view piece, bool ends) {
  bodies_[id].text.append(piece);
  bodies_[id].ends = ends;
  nghttp2_session_resume_data(library_.get(), id);
}

void http2_client::reset(std::int32_t id, std::uint32_t code) {
  nghttp2_submit_rst_stream(library_.get(), NGHTTP2_FLAG_NONE, id, code);
}

task<void> http2_client::send() {
  for (const std::uint8_t* frame = nullptr;;) {
    const auto size = nghttp2_session_mem_send(library_.get(), &frame);
    if (size <= 0) break;
    const std::string_view bytes = text_from(frame, static_cast<std::size_t>(size));
    if (const auto sent = co_await stream_.write(bytes); !sent) break;
  }
}

task<void> http2_client::send_raw(owned_text bytes) {
  co_await send();
  std::ignore = co_await stream_.write(bytes.view());
}

task<bool> http2_client::turn() {
  co_await send();
  const auto bytes = co_await stream_.read();
  if (!bytes) co_return false;
  note_goodbyes(bytes->text());
  const auto taken = nghttp2_session_mem_recv(
      library_.get(), reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size());
  co_return taken >= 0;
}

void http2_client::note_goodbyes(std::string_view bytes) {
  come_ += bytes;
  std::size_t at = 0;
  while (come_.size() - at >= http::http2::frame_head::size_bytes) {
    const auto head = http::http2::read_frame_head(come_.data() + at);
    if (come_.size() - at < http::http2::frame_head::size_bytes + head.length) break;
    at += http::http2::frame_head::size_bytes;
    if (head.type == NGHTTP2_GOAWAY) {
      last_answered_ = http::http2::read_id(come_.data() + at);
      goaway_ = http::http2::read_number(come_.data() + at + 4);
    }
    at += head.length;
  }
  come_.erase(0, at);
}

task<http2_reply> http2_client::reply(std::int32_t id) {
  for (bool goes_on = true; goes_on && !replies_[id].error;) goes_on = co_await turn();
  co_return replies_[id];
}

borrowing_task<http2_reply> http2_client::ask(std::string_view method, std::string_view target,
                                              std::string_view body, const fields& more) {
  const std::int32_t id = begin(method, target, more, body.empty());
  if (!body.empty()) give(id, body, true);
  co_return co_await reply(id);
}

task<std::optional<std::uint32_t>> http2_client::end() {
  for (bool goes_on = true; goes_on;) goes_on = co_await turn();
  while (const auto bytes = co_await stream_.read()) note_goodbyes(bytes->text());
  co_return goaway_;
}

}  // namespace weft::testing
