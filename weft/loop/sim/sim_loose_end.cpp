// Connections of a simulated world between two shards of their host: as they were while they stood
// in line.
#include <memory>
#include <utility>

#include <weft/loop/sim/sim_backend.hpp>
#include <weft/loop/sim/sim_network.hpp>

namespace weft {

class sim_network::loose_end final : public loose_socket {
 public:
  loose_end(sim_network& network, sim_handle of) noexcept : network_{network}, of_{of} {}
  ~loose_end() override {
    if (sim_socket* const socket = take()) network_.close(*socket);
  }
  [[nodiscard]] sim_socket* take() noexcept { return network_.find(std::exchange(of_, {})); }

 private:
  sim_network& network_;
  sim_handle of_;
};

std::unique_ptr<loose_socket> sim_network::loosen(sim_socket& socket) {
  socket.in_line = true;
  return std::make_unique<loose_end>(*this, socket.self);
}

descriptor* sim_network::adopt(sim_backend& owner, std::unique_ptr<loose_socket> socket) noexcept {
  sim_socket& adopted = *static_cast<loose_end&>(*socket).take();
  adopted.owner = &owner;
  adopted.in_line = false;
  return &adopted;
}

}  // namespace weft
