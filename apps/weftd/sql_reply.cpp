#include <apps/weftd/sql_reply.hpp>

#include <apps/weftd/row_text.hpp>
#include <weft/base/format.hpp>
#include <weft/store/json_value.hpp>

namespace weftd {

namespace store = weft::store;

void sql_reply::columns(std::span<const store::column> given) {
  columns_ = given;
  for (const store::column& each : given) append_text(each.name, names_.emplace_back());
  if (tells_names_) append_names();
  reply_ += R"("data":[)";
}

void sql_reply::append_names() {
  reply_ += R"("columns":[)";
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i != 0) reply_ += ',';
    reply_ += names_[i];
  }
  reply_ += "],";
}

bool sql_reply::row(std::span<const store::value> values) {
  const std::size_t before = reply_.size();
  reply_ += rows_ == 0 ? "{" : ",{";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) reply_ += ',';
    reply_ += names_[i];
    reply_ += ':';
    store::append_json(values[i], columns_[i], reply_);
    if (memory_.reply_bytes() > bytes_max_) return leave_out_row(before);
  }
  reply_ += '}';
  ++rows_;
  if (!memory_.has_room()) failure_ = no_memory();
  return !failure_ && memory_.reply_bytes() < bytes_max_;
}

/// False.
bool sql_reply::leave_out_row(std::size_t before) {
  reply_.resize(before);
  is_cut_ = true;
  if (rows_ == 0)
    failure_ = {weft::http::status::content_too_large,
                weft::format("a row of the reply has more than {} bytes: ask for fewer columns, or "
                             "for parts of them",
                             bytes_max_)};
  return false;
}

void sql_reply::failed(const store::failure& why) { failure_ = fault_of(why); }

}  // namespace weftd
