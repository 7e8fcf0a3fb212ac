// A form with files, part by part, as its handler asks for it (multipart/form-data, RFC 7578).
//
// Problem: an upload does not fit in memory, its disk is slow, its client goes away in the middle,
// and what it calls its files is not to be trusted. Contract: over the body_reader of a handler,
// which is read by nobody else and outlives this. next() gives the next part, after what is left of
// the one before has been passed over; it ends with errc::closed at the end of the form, and fails
// as body_reader::read() does. A form that is malformed, cut off or beyond its limits loses the
// body: the client is told why (400, 413, 415, 431), whatever the handler replies. All together is
// bounded by limits::body_bytes. Keeps 16 KiB at most, and 64 KiB while it stores. errc::cancelled
// and errc::timed_out of the task's own deadline lose nothing but what is being stored. One shard.
//
//   http.post("/photos", [](const http::request& r, http::body_reader& b) -> task<result<void>> {
//     http::multipart_reader form{r, b};
//     while (auto part = co_await form.next())
//       if (part->file_name)
//         if (auto saved = co_await part->save_in("/srv/photos"); !saved)
//           co_return fail(saved.error());
//     co_return form.outcome();
//   });
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/body_reader.hpp>
#include <weft/http/multipart_parser.hpp>
#include <weft/http/request.hpp>
#include <weft/http/safe_file_name.hpp>

namespace weft::http {

struct form_limits {
  /// Parts, and bytes of each one's header fields. Beyond: 413, 431.
  multipart_limits head{};
  /// Of the content of one part. Beyond: 413.
  std::uint64_t part_bytes = 64ULL * 1024 * 1024;
};

class multipart_reader;

struct stored_part {
  std::string path;
  std::uint64_t size_bytes = 0;
};

/// Until the next one is asked for.
class form_part {
 public:
  std::string_view name;                      // of the field, as sent
  std::optional<std::string_view> file_name;  // of a file: made safe (safe_file_name.hpp). An
                                              // input without a file has none
  std::string_view content_type;              // as sent: a claim

  /// The next piece, never empty, until the next read(). errc::closed: the part has ended.
  [[nodiscard]] task<result<std::string_view>> read();
  /// All that is left. More than `most_bytes` lose the body: 413.
  [[nodiscard]] task<result<std::string>> text(std::size_t most_bytes = 64UL * 1024);
  /// Stores what is left, without blocking the loop, in a file that is there once it is whole, and
  /// then at once, in place of another of that name. Until then it lies in the same folder, with a
  /// name that begins with a dot; whatever goes wrong, it is removed. Fails as read() does, or as
  /// the file does.
  [[nodiscard]] task<result<stored_part>> save_as(std::string path);
  /// As save_as(), by a name of its own: 32 hexadecimal digits. What the client calls the file is
  /// for people to read.
  [[nodiscard]] task<result<stored_part>> save_in(std::string folder);

 private:
  friend class multipart_reader;
  explicit form_part(multipart_reader& of, std::size_t number) noexcept
      : of_{&of}, number_{number} {}

  multipart_reader* of_;
  std::size_t number_;
};

class multipart_reader {
 public:
  multipart_reader(const request& asked, body_reader& body, const form_limits& bounds = {});
  multipart_reader(const multipart_reader&) = delete;
  multipart_reader& operator=(const multipart_reader&) = delete;

  [[nodiscard]] task<result<form_part>> next();

  /// Whether all of the form has been read, or else what the last call failed with; before that
  /// errc::unavailable.
  [[nodiscard]] result<void> outcome() const noexcept;

 private:
  friend class form_part;

  [[nodiscard]] task<result<multipart_event>> next_event();
  [[nodiscard]] task<result<std::string_view>> read_part(std::size_t number);
  [[nodiscard]] task<result<void>> skip_part();
  [[nodiscard]] task<result<void>> see_end();
  [[nodiscard]] task<result<std::uint64_t>> store(std::size_t number, file& into);
  [[nodiscard]] task<result<std::uint64_t>> store(std::size_t number, const std::string& path);
  [[nodiscard]] task<result<stored_part>> save(std::size_t number, std::string path,
                                               std::string unfinished);
  [[nodiscard]] std::unexpected<error> lose(status code, std::string_view reason);

  body_reader& body_;
  form_limits bounds_;
  std::optional<multipart_parser> form_;
  std::string_view received_;  // and not yet taken by form_
  std::size_t number_ = 0;     // of the part, from 1 on
  std::uint64_t part_bytes_ = 0;
  bool in_part_ = false;
  bool has_ended_ = false;
  error failure_{errc::unavailable};
  std::array<char, file_name_bytes_max> file_name_room_;
};

}  // namespace weft::http
