#include <weft/coro/task_failures.hpp>

#include <string>
#include <utility>

namespace weft {
namespace {

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "not a std::exception";
  }
}

std::string summary(const std::vector<std::exception_ptr>& failures) {
  const std::string first = text_of(failures.front());
  if (failures.size() == 1) return "a task failed: " + first;
  return std::to_string(failures.size()) + " tasks failed; the first: " + first;
}

}  // namespace

task_failures::task_failures(std::vector<std::exception_ptr> failures)
    : std::runtime_error{summary(failures)}, failures_{std::move(failures)} {}

}  // namespace weft
