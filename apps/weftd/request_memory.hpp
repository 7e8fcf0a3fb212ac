// What a request is read into and answered from, kept for the next one.
//
// Problem: a batch of a hundred look-ups makes hundreds of small things that all end together.
// Contract: each request under way has one, from the shard's pool; what was made in it is gone when
// it is given back, and its memory stays, up to `kept_bytes` of each text. Vectors of a request
// (request_vector) lie in the memory that is in use while they grow, which using_memory says; their
// elements are never destroyed but with it, so they own nothing else; what a document fills is a
// request_list, which says how many elements it takes. One shard.
//
//   request_memory_pool memories;
//   const auto memory = memories.take();
//   const using_memory here{*memory};
//   request_vector<int> numbers{1, 2, 3};
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/http/response.hpp>
#include <weft/json/bounded_vector.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/store/scratch.hpp>

#include <apps/weftd/api_fault.hpp>

namespace weft::http {
class exchange;
}

namespace weftd {

class request_memory {
 public:
  static constexpr std::size_t kept_bytes = 256 * 1024;

  /// A request up to this size is not counted, where others are.
  static constexpr std::size_t small_request_bytes = 16 * 1024;

  /// A reply up to this size is not asked about.
  static constexpr std::size_t uncounted_bytes = 64 * 1024;

  /// A long reply is kept in parts of this size or a row more: to let one text grow would copy all
  /// of it again and again, each time for as long as a hundred small requests take.
  static constexpr std::size_t part_bytes = 256 * 1024;

  std::string document;       // as json::read_lent() keeps it
  std::string reply;          // as it is made: its last part
  weft::store::scratch room;  // for everything between
  /// What a batch may have that is read into it.
  std::size_t operations_max = 128;

  /// Before a text of this size is read into `document`. Throws std::bad_alloc if the shard has no
  /// memory for it.
  void hold_document(std::size_t size_bytes);

  /// What it has of the system between two requests.
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return document.capacity() + reply.capacity() + room.held_bytes();
  }
  /// Of all parts.
  [[nodiscard]] std::size_t reply_bytes() const noexcept { return parts_bytes_ + reply.size(); }
  /// To be asked behind each row: whether the shard has memory for as much of a reply as there is
  /// by now. False: the reply is to end here, or to be given up.
  [[nodiscard]] bool has_room() { return reply.capacity() <= uncounted_bytes || count_reply(); }
  /// Before a long row: room for as much as is made of it. False: as has_room(). `given` was
  /// reserved for it.
  [[nodiscard]] bool make_room(std::size_t more_bytes, weft::memory_reservation given);
  /// The reply after has_room() or make_room() has returned false: 503 if a retry may succeed,
  /// otherwise 413.
  [[nodiscard]] api_fault why_no_room() const;
  /// Bytes reserved for the reply.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return held_.bytes(); }
  /// Forgets the reply, and gives its memory back.
  void give_up_reply() noexcept;
  /// Sends a reply of one part, whose memory is given away if that is long.
  void send(weft::http::exchange& e, weft::http::status code,
            weft::http::media_type type = weft::http::application_json);
  /// send(), of a reply for which nobody was asked: where the shard has no memory for it, the
  /// client is told so.
  void send_row(weft::http::exchange& e, weft::http::status code, api_version spoken);
  /// Sends a reply of any length, and gives the memory back with each part.
  [[nodiscard]] weft::task<void> send_all(
      weft::http::exchange& e, weft::http::status code,
      weft::http::media_type type = weft::http::application_json);

 private:
  friend class request_memory_pool;

  /// From now on, until it is given back, a large request counts against the memory of this shard.
  void count_request();
  [[nodiscard]] bool count_reply();
  void end_part();
  [[nodiscard]] bool hold(std::size_t bytes);

  std::vector<std::string> parts_;
  std::size_t parts_bytes_ = 0;
  weft::memory_reservation held_;  // for the reply, where it is long
  weft::memory_reservation held_document_;
  std::size_t refused_bytes_ = 0;  // of a reply, for which there was no room
  bool is_counted_ = false;
};

/// On this thread, while it lives; not over a wait.
class [[nodiscard]] using_memory {
 public:
  explicit using_memory(request_memory& memory) noexcept;
  using_memory(const using_memory&) = delete;
  using_memory& operator=(const using_memory&) = delete;
  ~using_memory();

  /// So many bytes for anything. Throws std::bad_alloc.
  [[nodiscard]] static void* take(std::size_t size_bytes);
  /// Of the memory in use.
  [[nodiscard]] static std::size_t operations_max() noexcept;

 private:
  request_memory* before_;
};

template <class T>
struct request_allocator {
  using value_type = T;

  request_allocator() noexcept = default;
  template <class U>
  explicit(false) request_allocator(const request_allocator<U>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(using_memory::take(count * sizeof(T)));
  }
  void deallocate(T* /*memory*/, std::size_t /*count*/) noexcept {}
  friend bool operator==(const request_allocator&, const request_allocator&) = default;
};

template <class T>
using request_vector = std::vector<T, request_allocator<T>>;
/// As a document may fill it: with `Most` elements, a number or a function that gives it.
template <class T, auto Most>
using request_list = weft::json::bounded_vector<T, Most, request_allocator<T>>;

/// Serves a request that changes nothing. If the shard has no memory for it, the reply is 503: it
/// may be sent again.
[[nodiscard]] weft::task<void> serve_or_refuse(weft::http::exchange& e, api_version spoken,
                                               weft::task<void> served);

class request_memory_pool {
 public:
  struct give_back {
    request_memory_pool* to;
    void operator()(request_memory* memory) const noexcept { to->take_back(memory); }
  };
  using lease = std::unique_ptr<request_memory, give_back>;

  /// What many requests at once have had is given up when they are over: so many are kept, and one
  /// or more that hold so much in all.
  static constexpr std::size_t kept = 16;
  static constexpr std::size_t kept_bytes = std::size_t{512} * 1024;

  /// `counts`: large requests count against the memory of the shard that takes them, on its loop.
  explicit request_memory_pool(bool counts = false) : counts_{counts} { free_.reserve(kept); }
  /// The pool outlives it.
  [[nodiscard]] lease take();

 private:
  void take_back(request_memory* given) noexcept;

  std::vector<std::unique_ptr<request_memory>> free_;
  std::size_t held_bytes_ = 0;  // of those
  bool counts_;
};

}  // namespace weftd
