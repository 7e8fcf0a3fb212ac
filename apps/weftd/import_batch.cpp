#include <apps/weftd/import_batch.hpp>

#include <utility>

#include <weft/base/format.hpp>
#include <weft/service/config_text.hpp>
#include <weft/store/convert.hpp>
#include <weft/store/number_text.hpp>

namespace weftd {

namespace store = weft::store;

namespace {

/// In a column with texts and numbers, a field of CSV that looks like a number and has no quotes is
/// one.
store::json_kind kind_of(const row_cell& cell, const store::column& in) noexcept {
  const bool is_number = cell.is_bare && cell.value.kind == store::json_kind::string &&
                         (in.type == store::column_type::any || in.keeps_form) &&
                         store::is_json_number(cell.value.text);
  return is_number ? store::json_kind::number : cell.value.kind;
}

}  // namespace

std::expected<void, std::string> import_batch::add(std::uint64_t line,
                                                   std::span<const row_cell> cells) {
  const auto key = room_.make_array<store::value>(to_.key().size());
  const auto columns = room_.make_array<store::column_position>(cells.size());
  const auto values = room_.make_array<store::value>(cells.size());
  seen_.assign(to_.columns().size(), false);
  std::size_t keyed = 0;
  std::size_t count = 0;
  for (const row_cell& each : cells)  // of a wrong row, too: it stays until the batch is written
    bytes_ += each.value.text.size() + sizeof(store::value);
  for (const row_cell& each : cells) {
    const auto at = to_.find(each.column);
    if (!at)
      return std::unexpected{
          weft::format("there is no column {}", weft::detail::quoted(each.column))};
    if (seen_[*at])
      return std::unexpected{weft::format("{} is there twice", weft::detail::quoted(each.column))};
    seen_[*at] = true;
    const store::column& column = to_.columns()[*at];
    if (column.is_generated) continue;
    const auto place = to_.place_in_key(*at);
    // The file's buffer moves on before the batch is written.
    const store::json_scalar given{kind_of(each, column), room_.copy(each.value.text)};
    const auto value = store::to_value(
        given, column, place ? store::purpose::key : store::purpose::content, room_);
    if (!value) {
      std::string why;
      store::append_message(value.error(), column, why);
      return std::unexpected{std::move(why)};
    }
    if (place) {
      key[*place] = *value;
      ++keyed;
    } else {
      columns[count] = *at;
      values[count++] = *value;
    }
  }
  if (keyed != key.size())
    return std::unexpected{weft::format("{} of {} columns of the primary key", keyed, key.size())};
  writes_.push_back({how_, &to_, key, columns.first(count), values.first(count)});
  lines_.push_back(line);
  return {};
}

std::optional<import_batch::cause> import_batch::take_cause() noexcept {
  return std::exchange(cause_, std::nullopt);
}

void import_batch::drop_first(std::size_t count) {
  writes_.erase(writes_.begin(), writes_.begin() + static_cast<std::ptrdiff_t>(count));
  lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(count));
}

void import_batch::drop(std::size_t operation) {
  writes_.erase(writes_.begin() + static_cast<std::ptrdiff_t>(operation));
  lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(operation));
}

void import_batch::clear() noexcept {
  writes_.clear();
  lines_.clear();
  room_.clear();
  bytes_ = 0;
}

void import_batch::failed(std::size_t operation, const store::failure& why) {
  if (why.kind != store::failure_kind::rolled_back && !cause_)
    cause_ = cause{operation, why.kind, std::string{why.message}, why.is_of_all};
}

}  // namespace weftd
