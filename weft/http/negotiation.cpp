#include <weft/http/negotiation.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <weft/http/content_type.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/headers.hpp>

namespace weft::http {
namespace {

using field_syntax::parameter;
using field_syntax::take_element;
using field_syntax::take_parameter;

// qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ) (RFC 9110 section 12.4.2), in
// thousandths.
std::optional<unsigned> parse_quality(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text[1] != '.')) return std::nullopt;
  if (text[0] != '0' && text[0] != '1') return std::nullopt;
  unsigned quality = text[0] == '1' ? 1000 : 0;
  unsigned step = 100;
  for (char c : text.substr(std::min<std::size_t>(text.size(), 2))) {
    if (c < '0' || c > '9') return std::nullopt;
    quality += static_cast<unsigned>(c - '0') * step;
    step /= 10;
  }
  return quality <= 1000 ? std::optional{quality} : std::nullopt;
}

// An element of a list with weights: what stands before the first ";", its parameters up to "q",
// and its quality.
struct weighted {
  std::string_view value;
  std::string_view parameters;
  unsigned quality = 1000;
};

std::optional<weighted> parse_weighted(std::string_view element) noexcept {
  const std::size_t end = std::min(element.find(';'), element.size());
  weighted found{.value = field_syntax::trim(element.substr(0, end)),
                 .parameters = element.substr(end)};
  std::string_view rest = found.parameters;
  std::string_view before = rest;
  bool has_quality = false;
  for (parameter each;; before = rest) {
    if (!take_parameter(rest, each)) return std::nullopt;
    if (each.name.empty()) return found;
    if (!equals_ignoring_case(each.name, "q") || has_quality) continue;
    const auto quality = each.quoted ? std::nullopt : parse_quality(each.value);
    if (!quality) return std::nullopt;
    has_quality = true;
    found.quality = *quality;
    found.parameters.remove_suffix(before.size());
  }
}

bool has_parameter(const content_type& type, const parameter& wanted) noexcept {
  std::string_view rest = type.parameters;
  for (parameter each; take_parameter(rest, each) && !each.name.empty();)
    if (equals_ignoring_case(each.name, wanted.name) &&
        equals_ignoring_case(each.value, wanted.value))
      return true;
  return false;
}

// Where an element's value is a media range, its type and subtype (RFC 9110 section 12.5.1).
std::optional<std::pair<std::string_view, std::string_view>> split_range(
    std::string_view value) noexcept {
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::pair parts{value.substr(0, slash), value.substr(slash + 1)};
  if (!field_syntax::is_token(parts.first) || !field_syntax::is_token(parts.second))
    return std::nullopt;
  return parts;
}

// How closely a media range fits: 0 not at all, and the more the closer.
unsigned closeness(const weighted& range, const content_type& offer) noexcept {
  const auto parts = split_range(range.value);
  if (!parts) return 0;
  const auto [type, subtype] = *parts;
  if (type == "*") return subtype == "*" ? 1 : 0;
  if (!equals_ignoring_case(type, offer.type)) return 0;
  if (subtype == "*") return 2;
  if (!equals_ignoring_case(subtype, offer.subtype)) return 0;
  unsigned fit = 3;
  std::string_view rest = range.parameters;
  for (parameter each; take_parameter(rest, each) && !each.name.empty(); ++fit)
    if (!has_parameter(offer, each)) return 0;
  return fit;
}

unsigned quality_of(std::string_view accept, std::string_view offered) noexcept {
  const auto offer = parse_content_type(offered);
  if (!offer) return 0;
  unsigned best_fit = 0;
  unsigned quality = 0;
  while (!accept.empty()) {
    const auto range = parse_weighted(take_element(accept));
    const unsigned fit = range ? closeness(*range, *offer) : 0;
    if (fit <= best_fit) continue;
    best_fit = fit;
    quality = range->quality;
  }
  return quality;
}

// Whether any element says something that we understand.
bool says_anything(std::string_view accept) noexcept {
  while (!accept.empty())
    if (const auto range = parse_weighted(take_element(accept)); range && split_range(range->value))
      return true;
  return false;
}

constexpr std::array by_benefit = {content_coding::br, content_coding::zstd, content_coding::gzip,
                                   content_coding::deflate, content_coding::identity};

// By coding; what was not named has the quality of "*", and identity, where neither was, the least
// there is (RFC 9110 section 12.5.3).
std::array<unsigned, content_coding_count> coding_qualities(std::string_view field) noexcept {
  constexpr unsigned unsaid = 1001;
  std::array<unsigned, content_coding_count> all;
  all.fill(unsaid);
  unsigned others = unsaid;
  while (!field.empty()) {
    const auto element = parse_weighted(take_element(field));
    if (!element) continue;
    if (element->value == "*") others = element->quality;
    if (const auto coding = parse_content_coding(element->value))
      all[static_cast<std::size_t>(*coding)] = element->quality;
  }
  for (const content_coding each : by_benefit) {
    unsigned& quality = all[static_cast<std::size_t>(each)];
    if (quality == unsaid) quality = others;
    if (quality == unsaid) quality = each == content_coding::identity ? 1 : 0;
  }
  return all;
}

}  // namespace

std::optional<std::size_t> choose_media_type(std::optional<std::string_view> accept,
                                             std::span<const std::string_view> offers) noexcept {
  if (offers.empty()) return std::nullopt;
  if (!accept || !says_anything(*accept)) return 0;
  std::optional<std::size_t> best;
  unsigned best_quality = 0;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const unsigned quality = quality_of(*accept, offers[i]);
    if (quality <= best_quality) continue;
    best_quality = quality;
    best = i;
  }
  return best;
}

coding_preferences rank_codings(std::optional<std::string_view> accept_encoding,
                                coding_set offered) noexcept {
  coding_preferences ranked;
  ranked.order.fill(content_coding::identity);
  if (accept_encoding) {
    const auto qualities = coding_qualities(*accept_encoding);
    const auto quality = [&qualities](content_coding of) {
      return qualities[static_cast<std::size_t>(of)];
    };
    // Each behind those that are wanted as much; std::stable_sort() would ask for memory.
    for (const content_coding each : by_benefit) {
      if (quality(each) == 0 || (each != content_coding::identity && !offered.contains(each)))
        continue;
      auto* const end = ranked.order.begin() + ranked.count;
      auto* const at = std::ranges::upper_bound(ranked.order.begin(), end, quality(each),
                                                std::ranges::greater{}, quality);
      std::move_backward(at, end, end + 1);
      *at = each;
      ++ranked.count;
    }
  }
  const auto end = ranked.order.begin() + ranked.count;
  if (std::find(ranked.order.begin(), end, content_coding::identity) == end)
    ranked.order[ranked.count++] = content_coding::identity;
  return ranked;
}

}  // namespace weft::http
