// Reads along with the messages of a handshake that come in the clear.
//
// Problem: a client that announces a first message of 128 KiB makes OpenSSL allocate 200 KiB, for
// ten bytes. Contract: internal to net. look() is given all that comes until the handshake is done,
// piece by piece, before OpenSSL is; false: the client's hello is announced as longer than
// hello_most_bytes. What is malformed in other ways is OpenSSL's to find. Allocates nothing.
//
//   plain_messages messages;
//   if (!messages.look(come, is_tls_1_2)) return progress::failed;
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::net::detail {

class plain_messages {
 public:
  /// A hello with a key share of the post-quantum kind and a ticket is of 3 KiB.
  static constexpr std::size_t hello_most_bytes = std::size_t{16} * 1024;

  /// `is_tls_1_2`: so much has been agreed on, where all is secret behind a change of the cipher.
  [[nodiscard]] bool look(std::string_view come, bool is_tls_1_2) noexcept {
    while (!come.empty() && !is_over_) {
      if (record_left_ == 0) {
        if (record_.take(come)) begin_record(is_tls_1_2);
        continue;
      }
      std::string_view part = come.substr(0, record_left_);
      come.remove_prefix(part.size());
      record_left_ -= part.size();
      if (is_handshake_ && !look_at_messages(part)) return false;
    }
    return true;
  }

 private:
  template <std::size_t Size>
  struct head {
    std::array<std::uint8_t, Size> bytes{};
    std::size_t size = 0;

    /// True: it is whole, and the next begins.
    bool take(std::string_view& from) noexcept {
      for (; size < Size && !from.empty(); from.remove_prefix(1))
        bytes[size++] = static_cast<std::uint8_t>(from.front());
      if (size < Size) return false;
      size = 0;
      return true;
    }
    /// The last `Count` bytes, as a number.
    template <std::size_t Count>
    [[nodiscard]] std::size_t number() const noexcept {
      std::size_t value = 0;
      for (std::size_t i = Size - Count; i < Size; ++i) value = value << 8U | bytes[i];
      return value;
    }
  };

  void begin_record(bool is_tls_1_2) noexcept {
    constexpr std::uint8_t cipher_changes = 20;
    constexpr std::uint8_t handshake = 22;
    is_handshake_ = record_.bytes[0] == handshake;
    is_over_ = record_.bytes[0] == cipher_changes && is_tls_1_2;
    record_left_ = record_.number<2>();
  }

  bool look_at_messages(std::string_view part) noexcept {
    constexpr std::uint8_t client_hello = 1;
    while (!part.empty()) {
      const std::size_t size = std::min(part.size(), message_left_);
      part.remove_prefix(size);
      message_left_ -= size;
      if (message_left_ != 0 || !message_.take(part)) continue;
      message_left_ = message_.number<3>();
      if (message_.bytes[0] == client_hello && message_left_ > hello_most_bytes) return false;
    }
    return true;
  }

  head<5> record_;   // type, version, length
  head<4> message_;  // type, length
  std::size_t record_left_ = 0;
  std::size_t message_left_ = 0;
  bool is_handshake_ = false;
  bool is_over_ = false;
};

}  // namespace weft::net::detail
