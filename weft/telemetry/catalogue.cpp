#include <weft/telemetry/catalogue.hpp>

#include <algorithm>
#include <bit>
#include <tuple>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/telemetry/distribution.hpp>

namespace weft::telemetry::detail {
namespace {

constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_label_name(std::string_view name) noexcept {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_series_name(std::string_view name) noexcept {
  return !name.empty() && (is_letter(name.front()) || name.front() == ':') &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == ':'; });
}

std::vector<std::pair<std::string, std::string>> sorted(std::initializer_list<label> labels) {
  std::vector<std::pair<std::string, std::string>> texts;
  texts.reserve(labels.size());
  for (const label& each : labels) texts.emplace_back(each.name, each.value);
  std::ranges::sort(texts);
  return texts;
}

std::string shown(const declaration& wanted) {
  std::string text{wanted.name};
  for (const label& each : wanted.labels)
    text += weft::format("{}{}=\"{}\"", text.size() == wanted.name.size() ? "{" : ",", each.name,
                         each.value);
  return wanted.labels.size() == 0 ? text : text + "}";
}

/// Why nothing can be called so; empty: it can.
std::string wrong_name(const declaration& wanted) {
  if (!is_series_name(wanted.name))
    return weft::format("'{}' is no name for a {}: [a-zA-Z_:][a-zA-Z0-9_:]* is", wanted.name,
                        to_string(wanted.kind));
  for (const label& each : wanted.labels)
    if (!is_label_name(each.name))
      return weft::format("{}: '{}' is no name for a label: [a-zA-Z_][a-zA-Z0-9_]* is", wanted.name,
                          each.name);
  const auto texts = sorted(wanted.labels);
  const auto twice =
      std::ranges::adjacent_find(texts, {}, &std::pair<std::string, std::string>::first);
  return twice == texts.end()
             ? std::string{}
             : weft::format("{}: two labels named '{}'", wanted.name, twice->first);
}

}  // namespace

/// A shard's cells, in whole cache lines.
class catalogue::store {
 public:
  store(catalogue& all, unsigned shard) : meter_{all, shard} {}

  [[nodiscard]] meter& shard_meter() noexcept { return meter_; }

  cell& add_number() {
    if (used_ == block::size) {
      blocks_.push_back(std::make_unique<block>());
      used_ = 0;
    }
    return blocks_.back()->cells[used_++];
  }

  histogram_cells& add_values() {
    return *values_.emplace_back(std::make_unique<histogram_cells>());
  }

  // For the instruments that were refused.
  cell& unread_number() {
    if (unread_number_ == nullptr) unread_number_ = &add_number();
    return *unread_number_;
  }
  histogram_cells& unread_values() {
    if (unread_values_ == nullptr) unread_values_ = &add_values();
    return *unread_values_;
  }

 private:
  struct alignas(64) block {
    static constexpr std::size_t size = 64;
    std::array<cell, size> cells;
  };

  meter meter_;
  std::vector<std::unique_ptr<block>> blocks_;
  std::size_t used_ = block::size;  // of the last block
  std::vector<std::unique_ptr<histogram_cells>> values_;
  cell* unread_number_ = nullptr;
  histogram_cells* unread_values_ = nullptr;
};

catalogue::catalogue(registry_options options) : options_{options} {
  WEFT_ASSERT(options.shards > 0, "a registry has at least one shard");
  for (unsigned index = 0; index < options.shards; ++index)
    stores_.push_back(std::make_unique<store>(*this, index));
}

catalogue::~catalogue() = default;

meter& catalogue::shard(unsigned index) noexcept {
  WEFT_ASSERT(index < stores_.size(), "the registry was made for fewer shards");
  return stores_[index]->shard_meter();
}

std::string catalogue::no_room_for(const declaration& wanted) const {
  if (series_ == options_.series_max)
    return weft::format(
        "no room for {}: there are {} series, and registry_options::series_max allows no more; "
        "does a label take ever new values?",
        shown(wanted), series_);
  if (wanted.kind == series_kind::histogram && histograms_ == options_.histograms_max)
    return weft::format(
        "no room for {}: there are {} histograms, and registry_options::histograms_max allows no "
        "more",
        shown(wanted), histograms_);
  return {};
}

catalogue::family* catalogue::find_or_add_family(const declaration& wanted, std::string& refusal) {
  const auto place = std::ranges::lower_bound(families_, wanted.name, {}, &family::name);
  if (place != families_.end() && (*place)->name == wanted.name) {
    if ((*place)->kind == wanted.kind) return place->get();
    refusal = weft::format("{} is a {} and cannot be a {} too", wanted.name,
                           to_string((*place)->kind), to_string(wanted.kind));
    return nullptr;
  }
  if (refusal = no_room_for(wanted); !refusal.empty()) return nullptr;
  return families_
      .insert(place, std::make_unique<family>(family{
                         std::string{wanted.name}, std::string{wanted.help}, wanted.kind, {}}))
      ->get();
}

catalogue::entry* catalogue::find_or_add(const declaration& wanted, std::string& refusal) {
  if (refusal = wrong_name(wanted); !refusal.empty()) return nullptr;
  family* const of = find_or_add_family(wanted, refusal);
  if (of == nullptr) return nullptr;
  auto labels = sorted(wanted.labels);
  const auto place = std::ranges::lower_bound(of->entries, labels, {}, &entry::labels);
  if (place != of->entries.end() && place->labels == labels) return &*place;
  if (refusal = no_room_for(wanted); !refusal.empty()) return nullptr;
  ++series_;
  const bool is_histogram = wanted.kind == series_kind::histogram;
  if (is_histogram) ++histograms_;
  entry added{std::move(labels), {}, {}};
  if (is_histogram)
    added.values.resize(stores_.size());
  else
    added.numbers.resize(stores_.size());
  return &*of->entries.insert(place, std::move(added));
}

/// Said as often as the number of refusals doubles: who is refused is mostly refused again.
void catalogue::refuse(const std::string& why) {
  std::uint64_t times = 0;
  {
    const std::lock_guard lock{mutex_};
    times = ++refused_;
  }
  if (std::has_single_bit(times))
    log::error(weft::format("telemetry: {} (refused {} so far)", why, times));
}

cell& catalogue::number(unsigned shard, const declaration& wanted) {
  std::string refusal;
  store& memory = *stores_[shard];
  {
    const std::lock_guard lock{mutex_};
    if (entry* const found = find_or_add(wanted, refusal); found != nullptr) {
      cell*& part = found->numbers[shard];
      if (part == nullptr) part = &memory.add_number();
      return *part;
    }
  }
  refuse(refusal);
  return memory.unread_number();
}

histogram_cells& catalogue::values(unsigned shard, const declaration& wanted) {
  std::string refusal;
  store& memory = *stores_[shard];
  {
    const std::lock_guard lock{mutex_};
    if (entry* const found = find_or_add(wanted, refusal); found != nullptr) {
      histogram_cells*& part = found->values[shard];
      if (part == nullptr) part = &memory.add_values();
      return *part;
    }
  }
  refuse(refusal);
  return memory.unread_values();
}

series catalogue::read(const family& of, const entry& from) const {
  series merged{.name = of.name,
                .help = of.help,
                .labels = from.labels,
                .kind = of.kind,
                .value = 0,
                .by_shard = std::vector<std::int64_t>(stores_.size()),
                .values = {}};
  for (std::size_t shard = 0; shard < stores_.size(); ++shard) {
    std::int64_t& own = merged.by_shard[shard];
    if (of.kind != series_kind::histogram) {
      if (const cell* const part = from.numbers[shard]; part != nullptr)
        own = static_cast<std::int64_t>(part->get());
    } else if (const histogram_cells* const part = from.values[shard]; part != nullptr) {
      const std::uint64_t before = merged.values.count();
      part->read_into(merged.values);
      own = static_cast<std::int64_t>(merged.values.count() - before);
    }
    merged.value += own;
  }
  return merged;
}

snapshot catalogue::read() const {
  snapshot taken;
  const std::lock_guard lock{mutex_};
  taken.all.reserve(last_size_);
  for (const auto& of : families_)
    for (const entry& from : of->entries) taken.all.push_back(read(*of, from));
  const auto own = static_cast<std::ptrdiff_t>(taken.all.size());
  taken.all.push_back(
      {.name = "telemetry_series_refused_total",
       .help = "Instruments that were asked for in vain: too many series, or a wrong name",
       .labels = {},
       .kind = series_kind::counter,
       .value = static_cast<std::int64_t>(refused_),
       .by_shard = {},
       .values = {}});
  for (const auto& [number, add_series] : sources_) (*add_series)(taken);
  constexpr auto order = [](const series& left, const series& right) {
    return std::tie(left.name, left.labels) < std::tie(right.name, right.labels);
  };
  const auto others = taken.all.begin() + own;
  std::ranges::sort(others, taken.all.end(), order);
  std::ranges::inplace_merge(taken.all, others, order);
  last_size_ = taken.all.size();
  return taken;
}

std::size_t catalogue::add_source(source add_series) {
  const std::lock_guard lock{mutex_};
  sources_.emplace_back(next_source_, std::make_unique<source>(std::move(add_series)));
  return next_source_++;
}

void catalogue::remove_source(std::size_t number) {
  const std::lock_guard lock{mutex_};
  std::erase_if(sources_, [number](const auto& each) { return each.first == number; });
}

}  // namespace weft::telemetry::detail
