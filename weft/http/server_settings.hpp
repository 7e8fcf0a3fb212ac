// What the texts among a server's options mean.
//
// Contract: internal to http. Each gives what is read, or what is wrong with it and with which
// option.
#pragma once

#include <expected>

#include <weft/http/server.hpp>
#include <weft/http/trusted_proxies.hpp>
#include <weft/service/option_fault.hpp>

namespace weft::http {

/// 0: none was given.
[[nodiscard]] std::expected<unsigned, option_fault> read_unix_mode(const server_options& options);
[[nodiscard]] std::expected<trusted_proxies, option_fault> read_trusted_proxies(
    const server_options& options);

}  // namespace weft::http
