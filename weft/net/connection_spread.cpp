#include <weft/net/connection_spread.hpp>

#include <exception>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log_parts.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::net {
namespace {

/// How often close() looks.
constexpr duration look_again_after = std::chrono::milliseconds{1};

}  // namespace

/// Made by the one shard, deleted by the other, or by the first if it comes back. While it lives,
/// both wait for it.
struct spread_place::passing : message {
  passing(std::shared_ptr<connection_spread> of, unsigned sender, unsigned receiver)
      : message{&arrived},
        spread{std::move(of)},
        from{spread->boards_[sender]},
        to{spread->boards_[receiver]} {
    from.going.fetch_add(1);
    to.coming.fetch_add(1);
  }
  passing(const passing&) = delete;
  passing& operator=(const passing&) = delete;
  ~passing() {
    socket.reset();
    to.coming.fetch_sub(1);
    from.going.fetch_sub(1);
  }

  std::shared_ptr<connection_spread> spread;
  std::unique_ptr<loose_socket> socket;
  board& from;
  board& to;
};

spread_place::spread_place(std::shared_ptr<connection_spread> spread, event_loop& loop,
                           admit_function admit)
    : spread_{std::move(spread)}, loop_{loop}, admit_{std::move(admit)} {
  WEFT_ASSERT(loop.port() != nullptr && loop.shard() < spread_->shards_,
              "connections are spread over the shards of one mesh");
  WEFT_ASSERT(own().place == nullptr, "a shard has one place in a spread");
  own().place = this;
  own().load = 0;
  own().is_open = true;
}

spread_place::~spread_place() {
  own().is_open = false;
  own().place = nullptr;
}

spread_place::board& spread_place::own() const noexcept { return spread_->boards_[loop_.shard()]; }

unsigned spread_place::least_loaded() const noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  unsigned least = loop_.shard();
  std::uint32_t least_load = own().load.load(relaxed) + own().coming.load(relaxed);
  if (least_load < 2) return least;
  least_load -= 1;  // one more there is no gain
  for (unsigned shard = 0; shard < spread_->shards_; ++shard) {
    const board& other = spread_->boards_[shard];
    const std::uint32_t load = other.load.load(relaxed) + other.coming.load(relaxed);
    if (load >= least_load || !other.is_open.load(relaxed)) continue;
    least = shard;
    least_load = load;
  }
  return least;
}

bool spread_place::pass_on(tcp_stream& stream) {
  const unsigned to = least_loaded();
  if (to == loop_.shard()) return false;
  mesh_port& port = *loop_.port();
  port.connect(to);
  auto sent = std::make_unique<passing>(spread_, loop_.shard(), to);
  // Either this sees that the other has closed, or the other sees that something is coming.
  if (!sent->to.is_open.load()) return false;
  sent->socket = stream.loosen();
  port.send(to, *sent.release());
  return true;
}

void spread_place::arrived(message& item, mesh_port* there) noexcept {
  const std::unique_ptr<passing> come{&static_cast<passing&>(item)};
  spread_place* const here = (there != nullptr ? come->to : come->from).place;
  if (here != nullptr) here->admit(std::move(come->socket));
}

void spread_place::admit(std::unique_ptr<loose_socket> socket) noexcept {
  try {
    auto stream = tcp_stream::adopt(loop_, std::move(socket));
    if (stream)
      admit_(std::move(*stream));
    else
      log::error_of({"a connection is dropped: ", stream.error().message()});
  } catch (const std::exception& why) {
    log::error_of({"a connection is dropped: ", why.what()});
  }
}

task<void> spread_place::close() {
  own().is_open = false;
  while (own().coming != 0 || own().going != 0)
    if (!co_await sleep_for(loop_, look_again_after)) co_return;
}

}  // namespace weft::net
