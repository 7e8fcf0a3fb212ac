// One client's connection as the server sees it that has accepted it, whatever is spoken there.
//
// Contract: internal to http. Stands in the host's list of clients from join() to leave(), which
// whoever derives calls when it begins and ends; it ends itself. One shard.
#pragma once

#include <cstdint>
#include <string>

namespace weft::http {

struct connection_host;

class client_link {
 public:
  client_link(const client_link&) = delete;
  client_link& operator=(const client_link&) = delete;
  virtual ~client_link() = default;

  /// The server begins to drain: leave_if_idle() follows when idle clients have had their time.
  virtual void prepare_to_leave() noexcept {}
  /// If nothing is under way and nothing has come: tells the client that this is the end.
  virtual void leave_if_idle() noexcept = 0;
  /// Nothing more is read, and what is waited for no longer.
  virtual void cut() noexcept = 0;
  /// Who it is and what it does, for the log.
  [[nodiscard]] virtual std::string description() const = 0;

 protected:
  client_link() noexcept = default;

  void join(connection_host& host);
  void leave(connection_host& host) noexcept;

 private:
  std::uint32_t number_ = 0;  // of this in the host's list
};

}  // namespace weft::http
