#include <weft/http/request.hpp>

#include <weft/http/connection.hpp>

namespace weft::http {

const net::tls_info* request::tls() const noexcept { return client_.tls(); }

}  // namespace weft::http
