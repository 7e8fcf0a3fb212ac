#include <weft/http/websocket/prepared_message.hpp>

#include <weft/http/websocket/frame_head.hpp>
#include <weft/http/websocket/shared_codecs.hpp>

namespace weft::http::ws {
namespace {

std::string framed(const websocket_message& what, std::string_view payload, bool is_compressed) {
  const frame_head head{.is_compressed = is_compressed,
                        .kind = what.is_text() ? opcode::text : opcode::binary,
                        .payload_bytes = payload.size()};
  std::string frame;
  frame.reserve(head.size_bytes() + payload.size());
  frame.resize(head.size_bytes());
  head.write(frame.data());
  return frame.append(payload);
}

}  // namespace

prepared_frame& prepared_message::plain() {
  if (plain_.text().empty()) plain_ = prepared_frame{framed(what_, what_.data, false)};
  return plain_;
}

prepared_frame& prepared_message::deflated(int window_bits) {
  variant& made =
      deflated_.at(static_cast<std::size_t>(window_bits - deflate_parameters::least_window_bits));
  if (!made.is_made) {
    made.is_made = true;
    shared_codecs& codecs = shared_codecs::of_this_thread();
    std::string& shorter = codecs.text();
    if (codecs.deflater(window_bits).deflate(what_.data, shorter) &&
        shorter.size() < what_.data.size())
      made.frame = prepared_frame{framed(what_, shorter, true)};
  }
  return made.frame;
}

}  // namespace weft::http::ws
