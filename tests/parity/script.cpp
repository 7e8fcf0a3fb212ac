#include "script.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::parity {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// What stands before `mark`, and what behind; the first takes all if there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text,
                                                  std::string_view mark) noexcept {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {trimmed(text), {}};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + mark.size()))};
}

std::vector<std::string> answers_in(std::string_view text) {
  std::vector<std::string> answers;
  while (!text.empty()) {
    const auto [one, rest] = cut(text, " | ");
    answers.emplace_back(one);
    text = rest;
  }
  if (answers.empty()) answers.emplace_back("ok");
  return answers;
}

/// Takes `within N` off the front of what is to be done; false if N is no number.
bool take_deadline(std::string_view& action, step& into) {
  const auto [word, rest] = cut(action, " ");
  if (word != "within") return true;
  const auto [number, done] = cut(rest, " ");
  unsigned milliseconds = 0;
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, milliseconds).ptr != end || done.empty()) return false;
  into.within = std::chrono::milliseconds{milliseconds};
  action = done;
  return true;
}

std::optional<step> parse_step(std::string_view line) {
  const auto [who, rest] = cut(line, ": ");
  if (who.empty() || rest.empty()) return std::nullopt;
  step made;
  made.who = who;
  auto [action, answers] = cut(rest, " = ");
  made.answers = answers_in(answers);
  if (action.ends_with(" &")) {
    made.is_left_waiting = true;
    action = trimmed(action.substr(0, action.size() - 2));
  }
  if (!take_deadline(action, made)) return std::nullopt;
  const auto [verb, argument] = cut(action, " ");
  if (verb.empty()) return std::nullopt;
  made.verb = verb;
  made.argument = argument;
  return made;
}

bool parse_transports(std::string_view text, std::vector<transport>& into) {
  while (!text.empty()) {
    const auto [word, rest] = cut(text, " ");
    if (word != "tcp" && word != "unix") return false;
    into.push_back(word == "tcp" ? transport::tcp : transport::unix_socket);
    text = rest;
  }
  return !into.empty();
}

}  // namespace

bool step::allows(std::string_view answer) const noexcept {
  return std::ranges::find(answers, answer) != answers.end();
}

std::expected<script, std::string> parse_script(std::string_view text) {
  script made;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    bool is_understood = false;
    if (line.starts_with("over ")) {
      is_understood = parse_transports(trimmed(line.substr(5)), made.over);
    } else if (auto one = parse_step(line)) {
      one->line = number;
      made.steps.push_back(std::move(*one));
      is_understood = true;
    }
    if (!is_understood)
      return std::unexpected{weft::format("line {}: no step of a script: {}", number, line)};
  }
  if (made.over.empty()) made.over.push_back(transport::tcp);
  return made;
}

}  // namespace weft::parity
