#include <weft/http/multipart_reader.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <utility>

#include <weft/coro/shielded.hpp>
#include <weft/http/random_name.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/file.hpp>

namespace weft::http {
namespace {

/// What a file is given at a time: a trip to a thread for each piece would be dear.
constexpr std::size_t part_stored_at_once_bytes = 64 * 1024;

errc kind_of(status code) noexcept {
  switch (code) {
    case status::content_too_large:
    case status::request_header_fields_too_large: return errc::limit_exceeded;
    case status::unsupported_media_type: return errc::unsupported;
    default: return errc::protocol_error;
  }
}

task<result<void>> rename_file(const std::string& from, const std::string& to) {
  const auto done =
      co_await blocking([&] { return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno; });
  if (!done) co_return fail(done.error());
  if (*done != 0) co_return fail(error::from_errno(*done));
  co_return result<void>{};
}

task<void> remove_file(const std::string& path) {
  const auto done = co_await blocking([&] { return ::unlink(path.c_str()); });
  if (!done) ::unlink(path.c_str());  // every thread is busy: it must go all the same
}

}  // namespace

task<result<std::string_view>> form_part::read() { return of_->read_part(number_); }

task<result<std::string>> form_part::text(std::size_t most_bytes) {
  std::string all;
  for (;;) {
    const auto piece = co_await read();
    if (!piece && piece.error() == errc::closed) co_return all;
    if (!piece) co_return fail(piece.error());
    if (piece->size() > most_bytes - all.size())
      co_return of_->lose(status::content_too_large, "a field of the form is too long");
    all += *piece;
  }
}

task<result<stored_part>> form_part::save_as(std::string path) {
  const auto drawn = draw_random_name();
  if (!drawn) co_return fail(drawn.error());
  const std::size_t folder_bytes = path.rfind('/') + 1;  // 0: there is none
  std::string unfinished = path.substr(0, folder_bytes) + "." + *drawn + ".part";
  co_return co_await of_->save(number_, std::move(path), std::move(unfinished));
}

task<result<stored_part>> form_part::save_in(std::string folder) {
  const auto drawn = draw_random_name();
  if (!drawn) co_return fail(drawn.error());
  if (!folder.empty() && !folder.ends_with('/')) folder += '/';
  std::string unfinished = folder + "." + *drawn + ".part";
  co_return co_await of_->save(number_, folder + *drawn, std::move(unfinished));
}

multipart_reader::multipart_reader(const request& asked, body_reader& body,
                                   const form_limits& bounds)
    : body_{body}, bounds_{bounds} {
  const std::string_view type = asked.headers().only("content-type").value_or(std::string_view{});
  std::string room(type.size(), '\0');
  const auto boundary = form_data_boundary(type, room);
  if (boundary) {
    form_.emplace(*boundary, bounds.head);
  } else if (type.empty() || boundary.error() == errc::unsupported) {
    std::ignore = lose(status::unsupported_media_type, "this path takes multipart/form-data");
  } else {
    std::ignore =
        lose(status::bad_request, "the form's Content-Type has no boundary, or a wrong one");
  }
}

result<void> multipart_reader::outcome() const noexcept {
  if (has_ended_) return {};
  return fail(failure_);
}

std::unexpected<error> multipart_reader::lose(status code, std::string_view reason) {
  failure_ = kind_of(code);
  return body_.lose({.code = code, .reason = reason, .offset_bytes = body_.given_bytes()},
                    kind_of(code));
}

/// `need_more` is none.
task<result<multipart_event>> multipart_reader::next_event() {
  for (;;) {
    if (body_.is_lost()) co_return fail(failure_ = body_.outcome().error());
    const multipart_event event = form_->next(received_);
    if (event == multipart_event::failed)
      co_return lose(form_->fault().code, form_->fault().reason);
    if (event != multipart_event::need_more) co_return event;
    const auto bytes = co_await body_.read();
    if (bytes) {
      received_ = *bytes;
    } else if (bytes.error() == errc::closed) {
      co_return lose(status::bad_request, "the form is cut off: its last boundary is missing");
    } else {
      co_return fail(failure_ = bytes.error());
    }
  }
}

task<result<std::string_view>> multipart_reader::read_part(std::size_t number) {
  while (in_part_ && number == number_) {
    const auto event = co_await next_event();
    if (!event) co_return fail(event.error());
    if (*event != multipart_event::data) {
      in_part_ = false;
      break;
    }
    const std::string_view piece = form_->data();
    part_bytes_ += piece.size();
    if (part_bytes_ > bounds_.part_bytes)
      co_return lose(status::content_too_large,
                     "a part of the form is longer than this path takes");
    if (!piece.empty()) co_return piece;
  }
  co_return fail(errc::closed);
}

task<result<void>> multipart_reader::skip_part() {
  while (in_part_) {
    const auto piece = co_await read_part(number_);
    if (!piece && piece.error() != errc::closed) co_return fail(piece.error());
  }
  co_return result<void>{};
}

task<result<void>> multipart_reader::see_end() {
  for (;;) {
    const auto behind = co_await body_.read();
    if (behind) continue;
    if (behind.error() != errc::closed) co_return fail(failure_ = behind.error());
    has_ended_ = true;
    co_return result<void>{};
  }
}

task<result<form_part>> multipart_reader::next() {
  if (has_ended_) co_return fail(errc::closed);
  if (!form_) co_return fail(failure_);
  if (auto skipped = co_await skip_part(); !skipped) co_return fail(skipped.error());
  // Finished it may be already, where the wait for what stands behind was cut short.
  if (!form_->is_finished()) {
    const auto event = co_await next_event();
    if (!event) co_return fail(event.error());
  }
  if (form_->is_finished()) {
    const auto ended = co_await see_end();
    co_return fail(ended ? error{errc::closed} : ended.error());
  }
  in_part_ = true;
  part_bytes_ = 0;
  const multipart_part& said = form_->part();
  form_part part{*this, ++number_};
  part.name = said.name;
  if (said.filename) part.file_name = safe_file_name(*said.filename, file_name_room_);
  part.content_type = said.content_type;
  co_return part;
}

task<result<std::uint64_t>> multipart_reader::store(std::size_t number, file& into) {
  std::string gathered;
  gathered.reserve(part_stored_at_once_bytes);
  for (std::uint64_t offset = 0;;) {
    const auto piece = co_await read_part(number);
    if (!piece && piece.error() != errc::closed) co_return fail(piece.error());
    if (piece) gathered += *piece;
    if (piece && gathered.size() + buffer_pool::slot_capacity <= part_stored_at_once_bytes)
      continue;
    if (!gathered.empty()) {
      const auto written = co_await into.write_at(offset, gathered);
      if (!written) co_return fail(written.error());
    }
    offset += gathered.size();
    gathered.clear();
    if (!piece) co_return offset;
  }
}

task<result<std::uint64_t>> multipart_reader::store(std::size_t number, const std::string& path) {
  auto into = co_await file::open(body_.loop(), path, file_access::create_new);
  if (!into) co_return fail(into.error());
  auto stored = co_await store(number, *into);
  if (!stored) co_return stored;
  if (auto closed = co_await into->close(); !closed) co_return fail(closed.error());
  co_return stored;
}

task<result<stored_part>> multipart_reader::save(std::size_t number, std::string path,
                                                 std::string unfinished) {
  result<std::uint64_t> stored = fail(errc::exhausted);
  result<void> renamed;
  std::exception_ptr thrown;
  try {
    stored = co_await store(number, unfinished);
    if (stored) renamed = co_await rename_file(unfinished, path);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (stored && renamed && !thrown)
    co_return stored_part{.path = std::move(path), .size_bytes = *stored};
  co_await shielded(remove_file(unfinished), deadline::never());
  if (thrown) std::rethrow_exception(thrown);
  co_return fail(stored ? renamed.error() : stored.error());
}

}  // namespace weft::http
