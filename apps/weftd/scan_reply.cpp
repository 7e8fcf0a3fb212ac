#include <apps/weftd/scan_reply.hpp>

#include <utility>

#include <apps/weftd/row_text.hpp>

namespace weftd {

namespace store = weft::store;

scan_reply::scan_reply(const store::scan_request& asked, std::size_t bytes_max,
                       request_memory& memory)
    : asked_{asked}, bytes_max_{bytes_max}, memory_{memory}, reply_{memory.reply} {
  memory_.give_up_reply();
  reply_ = R"({"data":[)";
}

void scan_reply::finish(std::string_view rest) {
  reply_ += R"(],"rows":)";
  reply_ += std::to_string(rows_);
  if (!rest.empty()) {
    reply_ += R"(,"continuation":)";
    append_text(rest, reply_);
  }
  reply_ += '}';
}

void scan_reply::row(std::span<const store::value> values) {
  if (rows_++ != 0) reply_ += ',';
  append_data(*asked_.from, asked_.columns, values, reply_);
}

bool scan_reply::long_row(std::span<const store::value> values, weft::memory_reservation memory) {
  // What stands around rows comes behind the last one.
  const std::size_t size = row_head_max + data_size_max(*asked_.from, asked_.columns, values);
  has_no_room_ = !memory_.make_room(size, std::move(memory));
  if (!has_no_room_)
    row(values);
  else if (rows_ == 0)
    failure_ = memory_.why_no_room();
  return !has_no_room_;
}

void scan_reply::failed(const store::failure& why) {
  if (why.kind == store::failure_kind::schema_changed)
    is_outdated_ = true;
  else
    failure_ = fault_of(why);
}

}  // namespace weftd
