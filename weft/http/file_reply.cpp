#include <weft/http/file_reply.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/byte_ranges.hpp>
#include <weft/http/date.hpp>
#include <weft/http/multipart_ranges.hpp>
#include <weft/http/preconditions.hpp>
#include <weft/http/random_name.hpp>
#include <weft/http/response.hpp>
#include <weft/loop/file.hpp>

namespace weft::http {
namespace {

std::int64_t seconds_of(std::int64_t nanoseconds) noexcept {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds{nanoseconds}).count();
}

std::string version_of(const open_file& found, content_coding coding) {
  std::string version = weft::format("{:x}-{:x}", found.size_bytes(), found.modified_ns());
  if (coding == content_coding::identity) return version;
  return version + "-" + std::string{to_string(coding)};
}

class file_reply {
 public:
  file_reply(event_loop& loop, const request& asked, body_writer& out, open_file found,
             const file_representation& as)
      : asked_{asked},
        out_{out},
        as_{as},
        version_{version_of(found, as.coding)},
        size_{found.size_bytes()},
        now_{std::chrono::floor<std::chrono::seconds>(loop.wall_now()).count()},
        modified_{std::min(seconds_of(found.modified_ns()), now_)},  // RFC 9110 section 8.8.2.1
        file_{file::adopt(loop, found.release())} {}

  task<result<void>> send() {
    const representation current{.tag = entity_tag{version_}, .modified = modified_};
    switch (check_preconditions(asked_.method(), asked_.headers(), current, now_)) {
      case precondition::not_modified: return give_nothing();
      case precondition::failed:
        return give_problem(status::precondition_failed,
                            "the file is not as the request's conditions say");
      case precondition::met: break;
    }
    const auto field = asked_.headers().only("range");
    const bool counts =
        field && asked_.method() == method::get && if_range_holds(asked_.headers(), current, now_);
    const range_set ranges = counts ? parse_ranges(*field, size_) : range_set{};
    switch (ranges.outcome) {
      case range_outcome::unsatisfiable:
        return give_problem(
            status::range_not_satisfiable,
            weft::format("the file has {} bytes, and none of those asked for", size_));
      case range_outcome::satisfiable:
        return ranges.count == 1 ? give_part(ranges.ranges[0]) : give_parts(ranges);
      case range_outcome::ignored: break;
    }
    return give_all();
  }

 private:
  /// With what is said of the file whatever is sent of it.
  response with_head(response made) const {
    const status code = made.code();
    const auto add = [&made](std::string_view name, std::string_view value) {
      if (!value.empty()) std::ignore = made.add_field(name, value);
    };
    const auto date = format_date(modified_);
    add("ETag", "\"" + version_ + "\"");
    add("Last-Modified", {date.data(), date.size()});
    add("Accept-Ranges", "bytes");
    if (as_.has_variants) add("Vary", "Accept-Encoding");
    // Nobody is to keep for others what answers this request's conditions.
    if (code != status::precondition_failed && code != status::range_not_satisfiable)
      add("Cache-Control", as_.cache_control);
    add("X-Content-Type-Options", "nosniff");
    return made;
  }
  response head_with_content(status code, std::string_view type) const {
    response made = with_head(response::empty(code));
    std::ignore = made.set_content_type(type);
    if (as_.coding != content_coding::identity)
      std::ignore = made.add_field("Content-Encoding", to_string(as_.coding));
    return made;
  }

  task<result<void>> give_nothing() {
    out_.start(with_head(response::empty(status::not_modified)));
    co_return result<void>{};
  }

  task<result<void>> give_problem(status code, std::string detail) {
    response made = with_head(response::problem(code, detail));
    std::array<char, content_range_bytes_max> room;
    if (code == status::range_not_satisfiable)
      std::ignore = made.add_field("Content-Range", unsatisfied_range(size_, room));
    const std::size_t size_bytes = made.body().size();
    out_.start(std::move(made), size_bytes);
    co_return result<void>{};
  }

  task<result<void>> give_all() {
    out_.start(head_with_content(status::ok, as_.type), size_);
    if (size_ == 0 || asked_.method() == method::head) co_return result<void>{};
    co_return co_await copy({.first = 0, .last = size_ - 1});
  }

  task<result<void>> give_part(byte_range part) {
    response made = head_with_content(status::partial_content, as_.type);
    std::array<char, content_range_bytes_max> room;
    std::ignore = made.add_field("Content-Range", content_range(part, size_, room));
    out_.start(std::move(made), part.size_bytes());
    co_return co_await copy(part);
  }

  task<result<void>> give_parts(range_set ranges) {
    // Which whoever wrote the file cannot have foreseen; a text that parts cannot hold by chance.
    const auto boundary = draw_random_name();
    if (!boundary) co_return fail(boundary.error());
    const multipart_ranges parts{*boundary, as_.type, size_};
    out_.start(
        head_with_content(status::partial_content, "multipart/byteranges; boundary=" + *boundary),
        parts.size_bytes(ranges.all()));
    std::string around;
    for (std::size_t i = 0; i < ranges.count; ++i) {
      around.clear();
      parts.append_head(ranges.ranges[i], around);
      if (auto sent = co_await out_.write(around); !sent) co_return sent;
      if (auto sent = co_await copy(ranges.ranges[i]); !sent) co_return sent;
    }
    around.clear();
    parts.append_end(around);
    co_return co_await out_.write(around);
  }

  task<result<void>> copy(byte_range part) {
    return out_.write_from(file_, part.first, part.size_bytes());
  }

  const request& asked_;
  body_writer& out_;
  const file_representation& as_;
  std::string version_;
  std::uint64_t size_;
  std::int64_t now_;  // seconds since 1970, as modified_
  std::int64_t modified_;
  file file_;
};

}  // namespace

borrowing_task<result<void>> reply_with_file(event_loop& loop, const request& asked,
                                             body_writer& out, open_file found,
                                             file_representation as) {
  file_reply reply{loop, asked, out, std::move(found), as};
  co_return co_await reply.send();
}

}  // namespace weft::http
