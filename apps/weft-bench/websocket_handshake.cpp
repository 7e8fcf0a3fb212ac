#include "websocket_handshake.hpp"

#include <openssl/evp.h>
#include <strings.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr std::size_t answer_most_bytes = 16 * 1024;
constexpr std::string_view line_end = "\r\n";

std::string base64(const unsigned char* bytes, std::size_t count) {
  std::string text((count + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero
  ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(count));
  text.pop_back();
  return text;
}

bool equal_names(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = text.find_last_not_of(" \t") + 1;
  return text.substr(begin, std::max(end, begin) - begin);
}

// Of the first such field; empty without one.
std::string_view field_of(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find(line_end); at != head.npos; at = head.find(line_end, at)) {
    at += line_end.size();
    const std::string_view line = head.substr(at, head.find(line_end, at) - at);
    const std::size_t colon = line.find(':');
    if (colon != line.npos && equal_names(line.substr(0, colon), name))
      return trimmed(line.substr(colon + 1));
  }
  return {};
}

}  // namespace

std::string draw_websocket_key() {
  std::array<unsigned char, 16> key{};
  if (::getrandom(key.data(), key.size(), 0) < 0) key.fill(0);
  return base64(key.data(), key.size());
}

websocket_handshake::websocket_handshake(std::string_view head, std::string key)
    : head_{head}, key_{std::move(key)} {}

std::string websocket_handshake::request() const {
  return weft::format("{}Sec-WebSocket-Key: {}\r\n\r\n", head_, key_);
}

// RFC 6455 section 4.2.2
std::string websocket_handshake::accepted_key() const {
  const std::string text = key_ + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  ::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha1(), nullptr);
  return base64(digest.data(), size);
}

websocket_handshake::step websocket_handshake::take(std::string_view bytes) {
  const std::size_t before = answer_.size();
  answer_ += bytes;
  const std::size_t blank = answer_.find("\r\n\r\n");
  if (blank == answer_.npos) {
    if (answer_.size() <= answer_most_bytes) return {progress::pending, bytes.size()};
    return {fail("the server's answer to the upgrade has no end"), bytes.size()};
  }
  answer_.resize(blank + 4);
  return {judge(), answer_.size() - before};
}

websocket_handshake::progress websocket_handshake::fail(std::string why) {
  failure_ = std::move(why);
  return progress::failed;
}

websocket_handshake::progress websocket_handshake::judge() {
  const std::string_view status = std::string_view{answer_}.substr(0, answer_.find(line_end));
  if (!status.starts_with("HTTP/1.1 101 "))
    return fail(weft::format("no WebSocket: the server answers '{}'", status));
  const bool is_upgraded = equal_names(field_of(answer_, "Upgrade"), "websocket") &&
                           equal_names(field_of(answer_, "Connection"), "upgrade");
  if (!is_upgraded) return fail("no WebSocket: the server has not upgraded to it");
  if (field_of(answer_, "Sec-WebSocket-Accept") != accepted_key())
    return fail("no WebSocket: Sec-WebSocket-Accept does not answer the key");
  return progress::done;
}

}  // namespace weft::bench
