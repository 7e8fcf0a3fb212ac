#include <weft/json/composer.hpp>

#include <weft/json/write.hpp>

namespace weft::json {

void composer::separate() {
  if (needs_comma_) out_.push_back(',');
  needs_comma_ = true;
}

composer& composer::open(char bracket) {
  separate();
  out_.push_back(bracket);
  needs_comma_ = false;
  return *this;
}

composer& composer::close(char bracket) {
  out_.push_back(bracket);
  needs_comma_ = true;
  return *this;
}

composer& composer::name(std::string_view text) {
  separate();
  json::append(text, out_);
  out_.push_back(':');
  needs_comma_ = false;
  return *this;
}

composer& composer::text(std::string_view value) {
  separate();
  json::append(value, out_);
  return *this;
}

composer& composer::number(std::int64_t value) { return raw(std::to_string(value)); }

composer& composer::number(std::uint64_t value) { return raw(std::to_string(value)); }

composer& composer::real(double value) {
  separate();
  json::append(value, out_);
  return *this;
}

composer& composer::raw(std::string_view value) {
  separate();
  out_.append(value);
  return *this;
}

}  // namespace weft::json
