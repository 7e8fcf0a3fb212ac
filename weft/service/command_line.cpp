#include <weft/service/command_line.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/log_escape.hpp>
#include <weft/service/nearest_word.hpp>

namespace weft {

using detail::did_you_mean;
using detail::list_of;

struct command_line::state {
  state(std::string_view program, std::string_view about)
      : name{program}, app{std::string{about}, std::string{program}} {}

  int refuse(const std::string& message) const {
    std::fputs(
        weft::format("{}: {}\nTry `{} --help`.\n", name, log::escaped(message), name).c_str(),
        stderr);
    return exit_usage;
  }

  [[nodiscard]] std::string unknown(const std::string& word) const {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& spelling : option->get_lnames()) known.push_back("--" + spelling);
    const std::vector<std::string_view> words{known.begin(), known.end()};
    return weft::format("unknown {} '{}'{}", word.starts_with('-') ? "option" : "argument", word,
                        did_you_mean(word.substr(0, word.find('=')), words));
  }

  void assign(const std::string& text) {
    assignments.push_back({text, "--" + text.substr(0, text.find('='))});
  }

  void take_short_names() {
    for (const short_name& each : short_names)
      if (const CLI::Option* option = app.get_option(each.name); option->count() > 0)
        assignments.push_back(
            {weft::format("{}={}{}", each.path, option->results().back(), each.unit), each.name});
    for (const std::string& text : sets) assign(text);
  }

  /// What is left of the command line is assignments; else what to say of the first that is not.
  [[nodiscard]] std::string take_extras(const std::vector<std::string>& extras) {
    for (const std::string& word : extras) {
      const std::size_t equals = word.find('=');
      const bool names_option = accepts_assignments && word.starts_with("--") &&
                                std::string_view{word}.substr(0, equals).contains('.');
      if (!names_option) return unknown(word);
      if (equals == std::string::npos)
        return weft::format("{} has no value: write {}=VALUE", word, word);
      assign(word.substr(2));
    }
    return {};
  }

  struct short_name {
    std::string name;
    std::string path;
    std::string unit;
  };

  std::string name;
  CLI::App app;
  bool accepts_assignments = false;
  std::vector<short_name> short_names;
  std::vector<std::string> sets;
  std::vector<assignment> assignments;
};

std::string program_name(std::string_view path) {
  return std::string{path.substr(path.rfind('/') + 1)};
}

command_line::command_line(std::string_view program, std::string_view about,
                           std::string_view version)
    : state_{std::make_unique<state>(program, about)} {
  CLI::App& app = state_->app;
  app.set_help_flag("-h,--help", "Print this help and end");
  if (!version.empty())
    app.set_version_flag("--version", weft::format("{} {}", program, version),
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
        return weft::format("'{}' is not a whole number from 0 to {}", value, most);
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
        return weft::format("'{}' is none of: {}{}", value, list_of(words),
                            did_you_mean(value, words));
      });
}

void command_line::flag(std::string_view name, bool& variable, std::string_view help) {
  state_->app.add_flag(std::string{name}, variable, std::string{help});
}

void command_line::argument(std::string_view name, std::string& variable, std::string_view help) {
  state_->app.add_option(std::string{name}, variable, std::string{help})
      ->required()
      ->type_name("")
      ->default_str("");
}

void command_line::accept_assignments() {
  state_->accepts_assignments = true;
  state_->app.add_option("--set", state_->sets, "Set an option of a service")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false)
      ->default_str("")
      ->check([](const std::string& value) {
        const std::size_t equals = value.find('=');
        const bool is_right =
            equals != std::string::npos && std::string_view{value}.substr(0, equals).contains('.');
        return is_right
                   ? std::string{}
                   : weft::format("'{}' is no SECTION.KEY=VALUE, as http.server.listen=:80", value);
      });
}

const std::string& command_line::program() const noexcept { return state_->name; }

void command_line::stands_for(std::string_view name, std::string_view path, std::string_view unit) {
  state_->short_names.push_back({std::string{name}, std::string{path}, std::string{unit}});
}

const std::vector<command_line::assignment>& command_line::assignments() const noexcept {
  return state_->assignments;
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
  state_->take_short_names();
  const std::string wrong = state_->take_extras(state_->app.remaining());
  if (!wrong.empty()) return state_->refuse(wrong);
  return std::nullopt;
}

}  // namespace weft
