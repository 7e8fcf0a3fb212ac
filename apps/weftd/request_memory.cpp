#include <apps/weftd/request_memory.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/exchange.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/store/engine.hpp>

namespace weftd {
namespace {

constinit thread_local request_memory* in_use = nullptr;

void clear(std::string& text) noexcept {
  if (text.capacity() > request_memory::kept_bytes)
    std::string{}.swap(text);  // an assignment may keep the memory
  else
    text.clear();
}

}  // namespace

bool request_memory::count_reply() {
  end_part();
  return hold(parts_bytes_ + reply.capacity());
}

void request_memory::count_request() {
  is_counted_ = true;
  room.count_by(weft::event_loop::current().memory(), small_request_bytes);
}

void request_memory::hold_document(std::size_t size_bytes) {
  if (!is_counted_ || size_bytes <= small_request_bytes) return;
  weft::memory_share& all = weft::event_loop::current().memory();
  held_document_ =
      all.try_reserve(weft::memory_kind::requests, size_bytes, weft::memory_priority::normal);
  if (held_document_) return;
  all.note_refused();
  throw std::bad_alloc{};
}

bool request_memory::make_room(std::size_t more_bytes, weft::memory_reservation given) {
  // The engine keeps its copy of the row meanwhile, which has three quarters of that.
  const std::size_t row_bytes = given.bytes() / 4 * 3;
  held_.shrink(parts_bytes_ + reply.capacity());
  held_.join(std::move(given));
  end_part();
  if (!hold(parts_bytes_ + reply.size() + more_bytes)) {
    refused_bytes_ += row_bytes;
    return false;
  }
  reply.reserve(reply.size() + more_bytes);
  return true;
}

void request_memory::end_part() {
  if (reply.size() < part_bytes) return;
  parts_.push_back(std::move(reply));
  parts_bytes_ += parts_.back().size();
  reply.clear();
  // Rows are alike. A long one has room made for it.
  const bool has_short_rows = parts_.back().size() < part_bytes + weft::store::long_row_bytes;
  if (has_short_rows) reply.reserve(part_bytes);
}

bool request_memory::hold(std::size_t bytes) {
  if (bytes <= held_.bytes()) {
    held_.shrink(bytes);  // what was reserved for a long row was more than its text has
    return true;
  }
  const std::size_t more_bytes = bytes - held_.bytes();
  weft::memory_share& all = weft::event_loop::current().memory();
  auto more =
      all.try_reserve(weft::memory_kind::replies, more_bytes, weft::memory_priority::normal);
  if (more) {
    held_.join(std::move(more));
    return true;
  }
  refused_bytes_ = bytes;
  // Who asks again finds some, if others take nothing of what is held for them.
  all.note_refused();
  const std::size_t most = all.budget().ceiling(weft::memory_priority::normal);
  all.budget().ask_for_relief(most - std::min(most, more_bytes));
  return false;
}

api_fault request_memory::why_no_room() const {
  const weft::memory_share& all = weft::event_loop::current().memory();
  return all.may_ever_have(refused_bytes_, weft::memory_priority::normal) ? no_memory()
                                                                          : never_memory();
}

void request_memory::give_up_reply() noexcept {
  clear(reply);
  parts_.clear();
  parts_bytes_ = 0;
  held_.reset();
}

void request_memory::send(weft::http::exchange& e, weft::http::status code,
                          weft::http::media_type type) {
  if (reply.size() <= uncounted_bytes) return e.reply(code, type.text(), reply);
  e.reply(weft::http::response{code, type, std::exchange(reply, {})});
  held_.reset();  // from now on it is the connection's
}

void request_memory::send_row(weft::http::exchange& e, weft::http::status code,
                              api_version spoken) {
  if (reply.size() <= uncounted_bytes) [[likely]]
    return e.reply(code, weft::http::application_json.text(), reply);
  hold(reply.size()) ? send(e, code) : weftd::reply(e, why_no_room(), spoken);
}

weft::task<void> request_memory::send_all(weft::http::exchange& e, weft::http::status code,
                                          weft::http::media_type type) {
  if (parts_.empty()) co_return send(e, code, type);
  parts_bytes_ += reply.size();
  parts_.push_back(std::move(reply));
  weft::http::body_writer& out = e.writer();
  out.start({code, type, {}}, parts_bytes_);
  for (std::string& each : parts_) {
    const std::size_t size_bytes = each.size();
    // Where the client has gone, there is nothing to be said.
    if (const auto sent = co_await out.write(std::move(each)); !sent) co_return;
    held_.shrink(held_.bytes() - std::min(held_.bytes(), size_bytes));
  }
  e.end_body();
}

weft::task<void> serve_or_refuse(weft::http::exchange& e, api_version spoken,
                                 weft::task<void> served) {
  try {
    co_return co_await std::move(served);
  } catch (const std::bad_alloc&) {
    if (e.replied()) throw;
  }
  reply(e, no_memory_for_request(), spoken);
}

using_memory::using_memory(request_memory& memory) noexcept
    : before_{std::exchange(in_use, &memory)} {}

using_memory::~using_memory() { in_use = before_; }

void* using_memory::take(std::size_t size_bytes) {
  WEFT_ASSERT(in_use != nullptr, "say by using_memory where a request_vector lies");
  constexpr std::size_t unit = sizeof(std::max_align_t);
  return in_use->room.make_array<std::max_align_t>((size_bytes + unit - 1) / unit).data();
}

std::size_t using_memory::operations_max() noexcept {
  WEFT_ASSERT(in_use != nullptr, "say by using_memory where a batch is read into");
  return in_use->operations_max;
}

request_memory_pool::lease request_memory_pool::take() {
  lease taken{nullptr, {this}};
  if (free_.empty()) {
    taken.reset(new request_memory);
  } else {
    taken.reset(free_.back().release());
    free_.pop_back();
    held_bytes_ -= taken->held_bytes();
  }
  if (counts_) taken->count_request();
  return taken;
}

void request_memory_pool::take_back(request_memory* given) noexcept {
  std::unique_ptr<request_memory> memory{given};
  memory->give_up_reply();
  memory->held_document_.reset();
  if (free_.size() == kept) return;
  clear(memory->document);
  memory->room.clear();
  const std::size_t more_bytes = memory->held_bytes();
  if (!free_.empty() && held_bytes_ + more_bytes > kept_bytes) return;
  held_bytes_ += more_bytes;
  free_.push_back(std::move(memory));
}

}  // namespace weftd
