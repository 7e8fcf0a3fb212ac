// What helps to see a failure again, told wherever this process tells of one.
//
// Problem: what chance had a part in can only be seen again with its seed, and whoever reads of a
// failed assertion, of what was left behind or of a failed test looks there, not at the first line
// of the log. Contract: one line of static storage; at first none. Any thread, signal handlers too.
//
//   set_failure_note("see it again with: WEFT_SHUFFLE=17");
//   if (const char* note = failure_note()) std::fputs(note, stderr);
#pragma once

namespace weft {

/// Replaces the one before; nullptr: none.
void set_failure_note(const char* line) noexcept;
[[nodiscard]] const char* failure_note() noexcept;

}  // namespace weft
