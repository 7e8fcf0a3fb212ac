// A stream that a client has opened, as its session tells it what comes and asks what is to go.
//
// Contract: internal to http; derive. Called by the session alone, while it reads and frames:
// nothing here may give the session up within. take_close() comes once, unless the stream was left
// before, and nothing after it. One shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/base/error.hpp>
#include <weft/base/intrusive_list.hpp>

namespace weft::http::http2 {

/// Why no more comes.
struct stream_closing {
  error why = errc::closed;  // closed: both sides have said all, or the connection has ended
  std::uint32_t code = 0;    // what it was reset with; 0: it was not
  bool is_refused = false;   // the server has not begun to serve it (RFC 9113 section 8.7)
  bool is_ours = false;      // it was reset here, since what came broke the protocol
};

class opened_stream {
 public:
  opened_stream() noexcept = default;
  opened_stream(const opened_stream&) = delete;
  opened_stream& operator=(const opened_stream&) = delete;

  /// Of a header section, or of the trailers: pseudo-header fields first.
  virtual void take_field(std::string_view name, std::string_view value) = 0;
  virtual void take_fields_end() = 0;
  virtual void take_data(std::string_view piece) = 0;
  /// The response is whole.
  virtual void take_end() noexcept = 0;
  virtual void take_close(const stream_closing& how) noexcept = 0;

  /// What of the request's body may go now, and whether nothing comes behind it.
  [[nodiscard]] virtual std::string_view unsent() const noexcept = 0;
  [[nodiscard]] virtual bool gives_no_more() const noexcept = 0;
  /// So much of it has gone.
  virtual void note_sent(std::size_t size_bytes) noexcept = 0;

  list_hook in_session;
  std::int32_t id = 0;  // 0: of no stream
  bool was_reset_by_server = false;

 protected:
  ~opened_stream() = default;
};

}  // namespace weft::http::http2
