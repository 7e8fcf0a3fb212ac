// The head of the only response on a connection, behind which no HTTP comes: to CONNECT, and to a
// request for another protocol.
//
// Contract: internal to http. read_answer() reads up to its end; what has come behind it stays the
// stream's. Interim responses are passed over. Obeys its task. The answer's views lie in itself.
//
//   lone_answer answer;
//   auto came = co_await read_answer(stream, answer);
#pragma once

#include <cstddef>
#include <expected>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/client/response_parser.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {

struct lone_answer {
  std::string received;
  std::size_t used = 0;  // up to the end of `head`
  response_parser parser;
  response_head head;
};

/// The message says what is wrong, of a server that is to be named before it: "does not answer".
[[nodiscard]] task<std::expected<void, request_fault>> read_answer(net::tcp_stream& from,
                                                                   lone_answer& answer);

}  // namespace weft::http
