// A program's command line: options with help, defaults and errors that name the right spelling.
//
// Contract: options write into variables that outlive parse(); what the variable holds before is
// the default that --help shows. parse() answers --help and --version itself. An unknown option is
// refused with the nearest known one, a bad value with the option, the value and what is allowed;
// both on stderr, with exit code 2.
//
//   command_line cli{"weftd", "rows over HTTP", "0.1.0"};
//   cli.option("--listen", listen, "Where to serve", "ADDRESS:PORT");
//   if (auto code = cli.parse(argc, argv)) return *code;
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What a program that was started by `path` is called: the last part of that.
[[nodiscard]] std::string program_name(std::string_view path);

class command_line {
 public:
  struct assignment {
    std::string text;  // "section.key=VALUE"
    std::string name;  // as the command line has it: "--section.key", or a short name
  };

  static constexpr int exit_usage = 2;

  command_line(std::string_view program, std::string_view about, std::string_view version);
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;
  ~command_line();

  /// `name` is "--listen" or "-l,--listen"; `placeholder` stands for the value in --help.
  void option(std::string_view name, std::string& variable, std::string_view help,
              std::string_view placeholder);
  /// What is wrong with a value; empty: nothing.
  using check = std::string (*)(const std::string& value);
  void option(std::string_view name, std::string& variable, std::string_view help,
              std::string_view placeholder, check refuse);
  /// A whole number from 0 to `most`.
  void option(std::string_view name, unsigned& variable, std::string_view help,
              std::string_view placeholder, unsigned most = 999'999'999);
  /// One of `allowed`, as spelled.
  void choice(std::string_view name, std::string& variable,
              std::initializer_list<std::string_view> allowed, std::string_view help);
  void flag(std::string_view name, bool& variable, std::string_view help);
  /// A word that must be there, and has no name before it: "FILE".
  void argument(std::string_view name, std::string& variable, std::string_view help);

  /// The name it goes by.
  [[nodiscard]] const std::string& program() const noexcept;

  /// Lets `--section.key=VALUE` and `--set section.key=VALUE` pass as assignments.
  void accept_assignments();
  /// Option `name`, such as "--listen", is a short way to say the assignment of its value, with
  /// `unit` behind it, to `path`. Its variable is set as well.
  void stands_for(std::string_view name, std::string_view path, std::string_view unit = {});
  /// What the command line assigns: by short names, then by --set, then by --section.key. After
  /// parse().
  [[nodiscard]] const std::vector<assignment>& assignments() const noexcept;

  /// Text at the end of --help: examples, files, where to read on.
  void epilogue(std::string_view text);

  /// An exit code if the program is to end: 0 after --help or --version, exit_usage after an error.
  /// Else the variables are set.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft
