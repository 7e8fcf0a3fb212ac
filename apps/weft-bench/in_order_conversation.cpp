#include "in_order_conversation.hpp"

#include <string>

namespace weft::bench {

std::size_t in_order_conversation::unsent(std::span<iovec> pieces) {
  std::size_t count = 0;
  for (std::size_t i = whole_sent_; i < owed_.size() && count < pieces.size(); ++i) {
    const std::string& bytes = owed_[i].to->bytes;
    const std::size_t from = i == whole_sent_ ? sent_ : 0;
    // iovec is for reading into as well, so it knows no const.
    pieces[count++] = {.iov_base = const_cast<char*>(bytes.data()) + from,
                       .iov_len = bytes.size() - from};
  }
  return count;
}

void in_order_conversation::advance(std::size_t sent_bytes) {
  sent_ += sent_bytes;
  while (whole_sent_ < owed_.size() && sent_ >= owed_[whole_sent_].to->bytes.size()) {
    sent_ -= owed_[whole_sent_].to->bytes.size();
    ++whole_sent_;
  }
}

std::size_t in_order_conversation::owed_from(std::uint64_t due) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < owed_.size(); ++i) count += owed_[i].due >= due ? 1 : 0;
  return count;
}

void in_order_conversation::complete(int status) {
  told().on_reply(owed_.front(), status);
  owed_.pop();
  if (whole_sent_ != 0)
    --whole_sent_;
  else
    sent_ = 0;
}

}  // namespace weft::bench
