#include <weft/service/command_line.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <format>
#include <numeric>
#include <span>
#include <vector>

namespace weft {
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

template <class Words>
std::string nearest(std::string_view word, const Words& known) {
  std::string best;
  // Beyond half of the word's letters the guess would be a joke.
  std::size_t best_distance = word.size() / 2 + 1;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words)
    text += std::format("{}{}", text.empty() ? "" : ", ", word);
  return text;
}

}  // namespace

struct command_line::state {
  state(std::string_view program, std::string_view about)
      : name{program}, app{std::string{about}, std::string{program}} {}

  int refuse(const std::string& message) const {
    std::fputs(std::format("{}: {}\nTry `{} --help`.\n", name, message, name).c_str(), stderr);
    return exit_usage;
  }

  [[nodiscard]] std::string unknown(const std::string& word) const {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& spelling : option->get_lnames()) known.push_back("--" + spelling);
    const std::string guess = nearest(word.substr(0, word.find('=')), known);
    return std::format("unknown {} '{}'{}", word.starts_with('-') ? "option" : "argument", word,
                       guess.empty() ? "" : std::format("; did you mean '{}'?", guess));
  }

  std::string name;
  CLI::App app;
};

command_line::command_line(std::string_view program, std::string_view about,
                           std::string_view version)
    : state_{std::make_unique<state>(program, about)} {
  CLI::App& app = state_->app;
  app.set_help_flag("-h,--help", "Print this help and end");
  if (!version.empty())
    app.set_version_flag("--version", std::format("{} {}", program, version),
                         "Print the version and end");
  app.option_defaults()->always_capture_default();
  app.get_formatter()->column_width(34);
  app.allow_extras();
}

command_line::~command_line() = default;

void command_line::option(std::string_view name, std::string& variable, std::string_view help,
                          std::string_view placeholder) {
  state_->app.add_option(std::string{name}, variable, std::string{help})
      ->type_name(std::string{placeholder});
}

void command_line::option(std::string_view name, std::string& variable, std::string_view help,
                          std::string_view placeholder, check refuse) {
  state_->app.add_option(std::string{name}, variable, std::string{help})
      ->type_name(std::string{placeholder})
      ->check(refuse);
}

void command_line::option(std::string_view name, unsigned& variable, std::string_view help,
                          std::string_view placeholder, unsigned most) {
  state_->app.add_option(std::string{name}, variable, std::string{help})
      ->type_name(std::string{placeholder})
      ->check([most](const std::string& value) {
        const char* end = value.data() + value.size();
        unsigned number = 0;
        const auto [stopped, code] = std::from_chars(value.data(), end, number);
        if (code == std::errc{} && stopped == end && number <= most) return std::string{};
        return std::format("'{}' is not a whole number from 0 to {}", value, most);
      });
}

void command_line::choice(std::string_view name, std::string& variable,
                          std::initializer_list<std::string_view> allowed, std::string_view help) {
  std::vector<std::string_view> words{allowed};
  std::string shown = list_of(words);
  std::ranges::replace(shown, ',', '|');
  std::erase(shown, ' ');
  state_->app.add_option(std::string{name}, variable, std::string{help})
      ->type_name(shown)
      ->check([words](const std::string& value) {
        if (std::ranges::find(words, value) != words.end()) return std::string{};
        const std::string guess = nearest(value, words);
        return std::format("'{}' is none of: {}{}", value, list_of(words),
                           guess.empty() ? "" : std::format("; did you mean '{}'?", guess));
      });
}

void command_line::flag(std::string_view name, bool& variable, std::string_view help) {
  state_->app.add_flag(std::string{name}, variable, std::string{help});
}

void command_line::epilogue(std::string_view text) { state_->app.footer(std::string{text}); }

std::optional<int> command_line::parse(int argc, const char* const* argv) {
  try {
    state_->app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return state_->app.exit(answered);
  } catch (const CLI::ParseError& wrong) {
    return state_->refuse(wrong.what());
  }
  const std::vector<std::string> extras = state_->app.remaining();
  if (!extras.empty()) return state_->refuse(state_->unknown(extras.front()));
  return std::nullopt;
}

}  // namespace weft
