#include <weft/store/mysql/tls_options.hpp>

#include <weft/net/tls_context.hpp>

namespace weft::store::mysql {

std::string fault_of_lists(const tls_options& of) {
  if (of.crl.empty()) return {};
  const auto read = net::tls_context::client({.ca = of.ca, .crl = of.crl});
  return read ? std::string{} : read.error();
}

}  // namespace weft::store::mysql
