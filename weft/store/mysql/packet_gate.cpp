#include <weft/store/mysql/packet_gate.hpp>

#include <cerrno>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <openssl/bio.h>
#include <openssl/ssl.h>

namespace weft::store::mysql {
namespace {

/// What the library allocates beside the room that it speaks of; it takes seven bytes.
constexpr std::size_t beside_bytes = 64;

/// Of TLS, which reads from the socket by itself.
long look_before_read(BIO* on, int operation, const char*, std::size_t, int, long, int result,
                      std::size_t*) {
  if (operation != BIO_CB_READ) return result;
  const auto* const gate = reinterpret_cast<const packet_gate*>(BIO_get_callback_arg(on));
  if (!gate->is_shut()) return result;
  BIO_clear_retry_flags(on);
  if (!gate->is_given_up()) BIO_set_retry_read(on);
  return -1;
}

}  // namespace

static_assert(std::is_standard_layout_v<packet_gate>, "its address is that of its methods");

packet_gate::packet_gate(MYSQL* of, void* session) noexcept
    : methods_{*of->net.pvio->methods}, of_{of} {
  reader* const own = reader_of(methods_);
  if (own == nullptr) return;
  read_ = std::exchange(*own, &read);
  of->net.pvio->methods = &methods_;
  if (session == nullptr) return;
  BIO* const by = SSL_get_rbio(static_cast<SSL*>(session));
  // It returns nothing.
  BIO_set_callback_arg(by, reinterpret_cast<char*>(this));
  // Nor does this.
  BIO_set_callback_ex(by, &look_before_read);
}

ssize_t packet_gate::read(MARIADB_PVIO* way, unsigned char* buffer, std::size_t length) {
  auto* const gate = reinterpret_cast<packet_gate*>(way->methods);
  if (!gate->is_shut()) [[likely]]
    return gate->read_(way, buffer, length);
  errno = gate->is_given_up_ ? ECONNABORTED : EAGAIN;
  return -1;
}

void packet_gate::narrow() noexcept {
  NET& net = of_->net;
  auto* const room = static_cast<unsigned char*>(std::realloc(net.buff, open_bytes + beside_bytes));
  if (room == nullptr) return;
  net.buff = net.write_pos = net.read_pos = room;
  net.max_packet = open_bytes;
  net.buff_end = room + open_bytes;
  let_in_ = open_bytes;
}

}  // namespace weft::store::mysql
