// A file as the reply: as much of it as was asked for, unless the client has it already.
//
// Contract: for GET and HEAD, by a handler that takes a body_writer. The reply is 304 or 412 where
// the request's preconditions say so (preconditions.hpp), 206 with one range or with several as
// multipart/byteranges (byte_ranges.hpp), 416, or 200 with the file. Its entity tag is made of the
// file's size, its time to the nanosecond, and its coding, so that it is the same on all servers
// that have the file: whoever gives all files one time must give a changed one another name.
// Last-Modified and Accept-Ranges go along, and "X-Content-Type-Options: nosniff", since the type
// is to be believed. It is sent as body_writer::write_from() says, without blocking the loop. A
// file that gets shorter meanwhile ends the connection within the body, so that the client knows.
// `asked` and `out` are the handler's. One shard.
//
//   http.get("/report", [this](const http::request& asked, http::body_writer& out) -> ... {
//     auto file = co_await blocking([] { return http::open_beneath(root, "report.pdf", ...); });
//     if (!file) co_return fail(file.error());
//     co_return co_await http::reply_with_file(loop, asked, out, std::move(*file), {.type = ...});
//   });
#pragma once

#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/content_coding.hpp>
#include <weft/http/file_path.hpp>
#include <weft/http/request.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::http {

// Its views are borrowed until the reply has been sent.
struct file_representation {
  std::string_view type;  // Content-Type
  content_coding coding = content_coding::identity;
  bool has_variants = false;            // the coding was negotiated: "Vary: Accept-Encoding"
  std::string_view cache_control = {};  // empty: left out
};

[[nodiscard]] borrowing_task<result<void>> reply_with_file(
    event_loop& loop, const request& asked WEFT_LIFETIME_BOUND, body_writer& out, open_file found,
    file_representation as WEFT_LIFETIME_BOUND);

}  // namespace weft::http
