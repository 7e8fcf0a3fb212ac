#include <weft/net/tls_bio.hpp>

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <new>
#include <string_view>

#include <weft/net/tls_state.hpp>

namespace weft::net::detail {
namespace {

tls_state& state_of(BIO* bio) noexcept { return *static_cast<tls_state*>(BIO_get_data(bio)); }

int read_input(BIO* bio, char* into, int room) noexcept {
  BIO_clear_retry_flags(bio);
  const std::size_t got = state_of(bio).take_input({into, static_cast<std::size_t>(room)});
  if (got != 0) return static_cast<int>(got);
  BIO_set_retry_read(bio);
  return -1;
}

int write_sealed(BIO* bio, const char* data, int size) noexcept {
  BIO_clear_retry_flags(bio);
  try {
    state_of(bio).add_sealed({data, static_cast<std::size_t>(size)});
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return size;
}

/// There is nothing to flush, and nothing else is asked for.
long control(BIO*, int what, long, void*) noexcept { return what == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* make_method() noexcept {
  BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weft");
  if (made == nullptr) return nullptr;
  BIO_meth_set_read(made, &read_input);
  BIO_meth_set_write(made, &write_sealed);
  BIO_meth_set_ctrl(made, &control);
  return made;
}

}  // namespace

bool attach_bio(ssl_st& session, tls_state& state) noexcept {
  static const BIO_METHOD* const method = make_method();
  BIO* const made = method != nullptr ? BIO_new(method) : nullptr;
  if (made == nullptr) return false;
  BIO_set_data(made, &state);
  BIO_set_init(made, 1);
  SSL_set_bio(&session, made, made);
  return true;
}

}  // namespace weft::net::detail
