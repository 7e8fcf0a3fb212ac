// All that went wrong in a scope that collects: an exception made of exceptions.
//
// Contract: thrown by scope::join(), with at least one failure, in the order in which the tasks
// ended. An exception rather than a list that join() returns: what nobody looks at still reaches
// somebody.
//
//   try {
//     co_await checks.join();
//   } catch (const task_failures& failed) {
//     for (const std::exception_ptr& one : failed.all()) report(one);
//   }
#pragma once

#include <exception>
#include <stdexcept>
#include <vector>

namespace weft {

class task_failures final : public std::runtime_error {
 public:
  explicit task_failures(std::vector<std::exception_ptr> failures);

  [[nodiscard]] const std::vector<std::exception_ptr>& all() const noexcept { return failures_; }

 private:
  std::vector<std::exception_ptr> failures_;
};

}  // namespace weft
