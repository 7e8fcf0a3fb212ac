// Which of several servers that have the same rows is asked.
//
// Problem: the servers of a cluster fail and come back, and a program that goes from one to another
// for no reason reads what the other does not have yet. Contract: the first of the list that can be
// connected to is used, and stays so until it is given up; then the next after it are tried, round
// the list. Each has pauses of its own after failures (retry_pace.hpp), within which it is left in
// peace. Keeps no time itself.
//
//   for (std::size_t each = 0; each < servers.size(); ++each)
//     if (servers.may_try(each, now)) ...  // 0: the one in use
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/store/mysql/retry_pace.hpp>
#include <weft/store/mysql/server_address.hpp>

namespace weft::store::mysql {

class server_choice {
 public:
  /// `servers`: one at least. Pauses are between `first` and `most`.
  server_choice(std::vector<server_address> servers, duration first, duration most,
                std::uint64_t seed) {
    servers_.reserve(servers.size());
    for (server_address& each : servers)
      servers_.push_back({std::move(each), retry_pace{first, most, seed + servers_.size()}});
  }

  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  /// The one so many places after that in use.
  [[nodiscard]] const server_address& at(std::size_t place) const noexcept {
    return servers_[index(place)].address;
  }
  [[nodiscard]] bool may_try(std::size_t place, time_point now) const noexcept {
    return (place == 0 || is_given_up_) && servers_[index(place)].pace.is_open(now);
  }
  [[nodiscard]] bool may_try_any(time_point now) const noexcept {
    for (std::size_t place = 0; place < size(); ++place)
      if (may_try(place, now)) return true;
    return false;
  }

  /// It is in use from now on.
  void succeeded(std::size_t place) noexcept {
    in_use_ = index(place);
    is_given_up_ = false;
    servers_[in_use_].pace.succeeded();
  }
  void failed(std::size_t place, time_point now) noexcept {
    servers_[index(place)].pace.failed(now);
  }
  /// The one in use is used no longer.
  void give_up() noexcept { is_given_up_ = true; }
  [[nodiscard]] bool is_given_up() const noexcept { return is_given_up_; }

 private:
  struct server {
    server_address address;
    retry_pace pace;
  };
  [[nodiscard]] std::size_t index(std::size_t place) const noexcept {
    return (in_use_ + place) % servers_.size();
  }

  std::vector<server> servers_;
  std::size_t in_use_ = 0;
  bool is_given_up_ = true;  // none has been connected to yet
};

}  // namespace weft::store::mysql
