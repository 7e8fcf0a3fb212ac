#include <weft/net/plain_messages.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::net::detail {
namespace {

constexpr char cipher_changes = 20;
constexpr char handshake = 22;
constexpr char encrypted = 23;
constexpr char client_hello = 1;
constexpr char certificate = 11;

std::string number(std::size_t value, std::size_t bytes) {
  std::string made;
  for (std::size_t i = bytes; i-- > 0;) made += static_cast<char>(value >> (8 * i) & 0xffU);
  return made;
}
std::string record(char type, std::string_view text) {
  return type + std::string{"\x03\x03"} + number(text.size(), 2) + std::string{text};
}
std::string message(char type, std::size_t announced, std::size_t come = 0) {
  return type + number(announced, 3) + std::string(come, 'x');
}

bool is_let_in(std::string_view all, bool is_tls_1_2 = false) {
  plain_messages whole;
  plain_messages by_byte;
  const bool is_fine = whole.look(all, is_tls_1_2);
  bool is_fine_by_byte = true;
  for (std::size_t i = 0; i < all.size() && is_fine_by_byte; ++i)
    is_fine_by_byte = by_byte.look(all.substr(i, 1), is_tls_1_2);
  EXPECT_EQ(is_fine, is_fine_by_byte);
  return is_fine;
}

TEST(plain_messages, refuses_a_hello_once_it_is_announced_as_too_long) {
  constexpr std::size_t most = plain_messages::hello_most_bytes;
  EXPECT_TRUE(is_let_in(record(handshake, message(client_hello, 300, 300))));
  EXPECT_TRUE(is_let_in(record(handshake, message(client_hello, most))));
  EXPECT_FALSE(is_let_in(record(handshake, message(client_hello, most + 1))));
  EXPECT_FALSE(is_let_in(record(handshake, message(client_hello, 131'000))));
}

TEST(plain_messages, reads_a_message_in_many_records) {
  std::string all;
  for (const char byte : message(client_hello, 131'000)) all += record(handshake, {&byte, 1});
  EXPECT_FALSE(is_let_in(all));
  EXPECT_TRUE(is_let_in(all.substr(0, all.size() - 1)));
}

TEST(plain_messages, looks_at_a_second_hello) {
  const std::string first = record(handshake, message(client_hello, 200, 200));
  const std::string second = record(handshake, message(client_hello, 70'000, 100));
  EXPECT_FALSE(is_let_in(first + second));
  EXPECT_FALSE(is_let_in(first + record(cipher_changes, "\x01") + second));
}

TEST(plain_messages, leaves_what_is_secret_and_other_messages_to_the_library) {
  const std::string first = record(handshake, message(client_hello, 200, 200));
  const std::string secret = message(client_hello, 0xffffff, 30);
  EXPECT_TRUE(is_let_in(first + record(encrypted, secret)));
  EXPECT_TRUE(is_let_in(first + record(cipher_changes, "\x01") + record(handshake, secret), true));
  EXPECT_TRUE(is_let_in(first + record(handshake, message(certificate, 20'000, 20'000 % 100))));
}

}  // namespace
}  // namespace weft::net::detail
