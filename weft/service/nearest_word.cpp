#include <weft/service/nearest_word.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <weft/base/format.hpp>

namespace weft::detail {
namespace {

/// Levenshtein's distance: insertions, deletions and replacements from one word to the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// Nobody types longer ones, and the distance takes the product of the lengths.
constexpr std::size_t longest_word = 256;

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  if (word.size() > longest_word) return {};
  // Beyond half of the word's letters the guess would be a joke.
  std::size_t best_distance = word.size() / 2 + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string{best};
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string guess = nearest_word(word, known);
  return guess.empty() ? guess : weft::format("; did you mean '{}'?", guess);
}

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words)
    text += weft::format("{}{}", text.empty() ? "" : ", ", word);
  return text;
}

}  // namespace weft::detail
