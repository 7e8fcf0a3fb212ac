// What a parity script says: who does what, one step after the other, and what the API shows then.
//
// Problem: a simulated world is worth as much as it is like the machine. So the same steps are
// taken on each backend, and each must answer as the script says. Contract: a line is a step,
// `who: verb argument`. Behind it may stand `&`, for a step that is left waiting while others go on
// (the step `ended` tells how it ended), and `= answer`, where `ok` need not be said; answers that
// are all allowed are set apart by ` | `. `within 20 read 5` gives a step a deadline in
// milliseconds. A line `over tcp unix` has the script run over each of these; without one it runs
// over TCP. Empty lines, and those that begin with #, say nothing. stage.hpp knows the verbs. What
// is none of this is told by parse_script() with its line.
//
//   # Nothing is lost by a read that was called off.
//   client: read 5 &
//   client: stop
//   client: ended = cancelled
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/time.hpp>

namespace weft::parity {

struct step {
  std::size_t line = 0;
  std::string who;
  std::string verb;
  std::string argument;
  std::optional<duration> within;
  bool is_left_waiting = false;
  std::vector<std::string> answers;  // one at least

  [[nodiscard]] bool allows(std::string_view answer) const noexcept;
};

enum class transport { tcp, unix_socket };

struct script {
  std::vector<transport> over;
  std::vector<step> steps;
};

/// Fails with a sentence for people, which names the line.
[[nodiscard]] std::expected<script, std::string> parse_script(std::string_view text);

}  // namespace weft::parity
