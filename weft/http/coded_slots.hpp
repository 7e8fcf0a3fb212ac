// How many codecs a middleware keeps at work at a time.
//
// Contract: private to weft/http's sources. A codec has up to 8 MiB of its own, and a client that
// is slow keeps it busy: so there is a number. Whoever took a slot gives it back. One shard.
//
//   coded_slots slots{64};
//   if (!slots.take()) ...   // as it is, or later
#pragma once

namespace weft::http {

class coded_slots {
 public:
  explicit coded_slots(unsigned most) noexcept : left_{most} {}
  [[nodiscard]] bool take() noexcept {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  void give_back() noexcept { ++left_; }

 private:
  unsigned left_;
};

}  // namespace weft::http
