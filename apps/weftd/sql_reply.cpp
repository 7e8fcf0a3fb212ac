#include <apps/weftd/sql_reply.hpp>

#include <apps/weftd/row_text.hpp>
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
  reply_ += rows_++ == 0 ? "{" : ",{";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) reply_ += ',';
    reply_ += names_[i];
    reply_ += ':';
    store::append_json(values[i], columns_[i], reply_);
  }
  reply_ += '}';
  return reply_.size() < bytes_max_;
}

void sql_reply::failed(const store::failure& why) { failure_ = fault_of(why); }

}  // namespace weftd
