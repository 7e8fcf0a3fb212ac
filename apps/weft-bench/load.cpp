#include "load.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "response_framer.hpp"

namespace weft::bench {
namespace {

// Steady time in nanoseconds; std::chrono's clock is the same call.
std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

constexpr std::uint64_t tick_ns = 100'000'000;        // how soon a failed connect is tried again
constexpr std::uint64_t progress_ns = 1'000'000'000;  // progress, and the search for time-outs
constexpr std::size_t connecting_limit = 256;         // so that no listener's backlog overflows

enum class link : std::uint8_t {
  down,
  connecting,
  standing,  // connected, and waits for the others
  waiting,   // for a reply
};

struct connection {
  explicit connection(known_head& known, bool answers_head) : framer(known, answers_head) {}

  int fd = -1;
  link state = link::down;
  std::uint64_t since = 0;  // the connect's or the request's start
  std::size_t sent = 0;     // bytes of the request
  std::size_t echoed = 0;   // bytes of it that came back
  response_framer framer;
};

class load_loop {
 public:
  load_loop(const load_plan& plan, const volatile std::sig_atomic_t& stop, load_observer* observer)
      : plan_(plan), stop_(stop), observer_(observer), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    connections_.reserve(static_cast<std::size_t>(plan.connections));
    for (int i = 0; i < plan.connections; ++i) {
      connections_.emplace_back(known_, plan.expects == reply_kind::http_to_head);
      down_.push_back(&connections_.back());
    }
  }
  load_loop(const load_loop&) = delete;
  load_loop& operator=(const load_loop&) = delete;
  ~load_loop() {
    for (const connection& peer : connections_) {
      if (peer.fd >= 0) ::close(peer.fd);
    }
    if (epoll_ >= 0) ::close(epoll_);
  }

  load_result run();

 private:
  void settle(std::uint64_t time);
  void turn();
  void tick(std::uint64_t time);
  void begin_window(std::uint64_t time);
  void end_window(std::uint64_t time);
  void expire(std::uint64_t time);

  void open(connection& peer, std::uint64_t time);
  void open_those_down(std::uint64_t time);
  void open_one_down(std::uint64_t time);
  void on_event(connection& peer, std::uint32_t events);
  void on_connected(connection& peer);
  void begin_request(connection& peer, std::uint64_t time);
  void send_rest(connection& peer);
  void receive(connection& peer, bool to_the_end);
  void on_echo(connection& peer, std::string_view bytes);
  void on_http(connection& peer, std::string_view bytes);
  void complete(connection& peer, bool reuse);
  void on_end(connection& peer);
  void count_status(int status);
  // Counts the failure and opens the connection again: at the next tick if it was a failed connect
  // or a time-out, which would fail again at once, else now.
  void fail(connection& peer, std::uint64_t load_errors::* kind, int error = 0);
  void close(connection& peer);

  const load_plan& plan_;
  const volatile std::sig_atomic_t& stop_;
  load_observer* observer_;
  int epoll_;
  known_head known_;
  std::vector<connection> connections_;
  std::vector<connection*> down_;
  std::size_t connecting_ = 0;
  std::size_t connects_ = 0;  // that succeeded
  bool settled_ = false;      // every connection stood once, or not all of them will
  bool measuring_ = false;
  std::uint64_t started_ = 0;
  std::uint64_t window_start_ = 0;
  std::uint64_t next_tick_ = 0;
  std::uint64_t next_progress_ = 0;
  rusage usage_before_{};
  load_counts counts_;
  load_result result_;
  std::array<epoll_event, 1024> events_;
  std::array<char, 65536> input_;
};

load_result load_loop::run() {
  if (epoll_ < 0) {
    result_.first_error = errno;
    return result_;
  }
  started_ = now();
  next_progress_ = started_ + progress_ns;
  const auto warm_up = static_cast<std::uint64_t>(plan_.warm_up.count());
  const auto duration = static_cast<std::uint64_t>(plan_.duration.count());

  for (std::uint64_t time = started_;; time = now()) {
    if (!settled_) settle(time);
    if (settled_ && !measuring_ && time - started_ >= warm_up) begin_window(time);
    if (measuring_ && time - window_start_ >= duration) break;
    if (stop_ != 0) {
      result_.interrupted = true;
      break;
    }
    if (time >= next_tick_) tick(time);
    turn();
  }
  end_window(now());
  return result_;
}

// First all connect, then all send: what loads the server already would slow down each connect, and
// thousands of them for many seconds. The warm-up starts when the load has its full size.
void load_loop::settle(std::uint64_t time) {
  const auto timeout = static_cast<std::uint64_t>(plan_.timeout.count());
  settled_ =
      connects_ >= connections_.size() || counts_.errors.connect != 0 || time - started_ >= timeout;
  if (!settled_) return;
  started_ = time;
  for (connection& peer : connections_) {
    if (peer.state == link::standing) begin_request(peer, now());
  }
}

void load_loop::turn() {
  const int ready = ::epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()),
                                 static_cast<int>(tick_ns / 1'000'000));
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    on_event(*static_cast<connection*>(event.data.ptr), event.events);
  }
}

void load_loop::tick(std::uint64_t time) {
  next_tick_ = time + tick_ns;
  open_those_down(time);
  if (time < next_progress_) return;
  next_progress_ = time + progress_ns;
  expire(time);
  if (observer_ == nullptr) return;
  const double seconds = static_cast<double>(time - (measuring_ ? window_start_ : started_)) * 1e-9;
  observer_->on_progress(seconds, !measuring_, counts_, result_.latency);
}

void load_loop::begin_window(std::uint64_t time) {
  measuring_ = true;
  window_start_ = time;
  result_.requests_with_warm_up = counts_.requests;
  result_.errors_in_warm_up = counts_.errors;
  counts_ = {};
  result_.latency.clear();
  ::getrusage(RUSAGE_SELF, &usage_before_);
}

void load_loop::end_window(std::uint64_t time) {
  if (!measuring_) {  // interrupted in the warm-up: what there is of it is the result
    window_start_ = started_;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  result_.counts = counts_;
  result_.measured_from = static_cast<double>(window_start_) * 1e-9;
  result_.seconds = static_cast<double>(time - window_start_) * 1e-9;
  result_.cpu_user_seconds = seconds_of(usage.ru_utime) - seconds_of(usage_before_.ru_utime);
  result_.cpu_system_seconds = seconds_of(usage.ru_stime) - seconds_of(usage_before_.ru_stime);
  result_.requests_with_warm_up += counts_.requests;
}

void load_loop::expire(std::uint64_t time) {
  const auto timeout = static_cast<std::uint64_t>(plan_.timeout.count());
  for (connection& peer : connections_) {
    const bool is_owed = peer.state == link::connecting || peer.state == link::waiting;
    if (is_owed && time > peer.since && time - peer.since > timeout) {
      fail(peer, &load_errors::timed_out, ETIMEDOUT);
    }
  }
}

void load_loop::open_those_down(std::uint64_t time) {
  // Those that fail at once are put back and wait for the next tick.
  std::vector<connection*> waiting;
  waiting.swap(down_);
  while (!waiting.empty() && connecting_ < connecting_limit) {
    connection* const peer = waiting.back();
    waiting.pop_back();
    open(*peer, time);
  }
  down_.insert(down_.end(), waiting.begin(), waiting.end());
}

void load_loop::open_one_down(std::uint64_t time) {
  if (down_.empty()) return;
  connection* const peer = down_.back();
  down_.pop_back();
  open(*peer, time);
}

void load_loop::open(connection& peer, std::uint64_t time) {
  const auto* const to = reinterpret_cast<const sockaddr*>(&plan_.to.bytes);
  const int on = 1;
  peer.framer.reset();
  peer.since = time;
  peer.state = link::connecting;
  ++connecting_;
  peer.fd = ::socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (peer.fd < 0) return fail(peer, &load_errors::connect, errno);
  ::setsockopt(peer.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(peer.fd, to, plan_.to.size) != 0 && errno != EINPROGRESS) {
    return fail(peer, &load_errors::connect, errno);
  }
  // Edge-triggered, so being watched for room to write costs nothing while there is room.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &peer;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.fd, &event) != 0) {
    fail(peer, &load_errors::connect, errno);
  }
}

void load_loop::on_event(connection& peer, std::uint32_t events) {
  if (peer.state == link::connecting) return on_connected(peer);
  if (peer.state == link::down) return;
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if (peer.state == link::standing) {
    if ((events & ended) != 0) fail(peer, &load_errors::closed);
    return;
  }
  if (peer.sent < plan_.request.size() && (events & EPOLLOUT) != 0) send_rest(peer);
  if (peer.state == link::waiting && (events & (EPOLLIN | ended)) != 0) {
    receive(peer, (events & ended) != 0);
  }
}

void load_loop::on_connected(connection& peer) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(peer.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(peer, &load_errors::connect, error);
  --connecting_;
  ++connects_;
  peer.state = link::standing;
  const std::uint64_t time = now();
  open_one_down(time);  // the next of those that waited for their turn to connect
  if (settled_) begin_request(peer, time);
}

void load_loop::begin_request(connection& peer, std::uint64_t time) {
  peer.state = link::waiting;
  peer.since = time;
  peer.sent = 0;
  peer.echoed = 0;
  send_rest(peer);
}

void load_loop::send_rest(connection& peer) {
  const std::string_view rest = std::string_view{plan_.request}.substr(peer.sent);
  const ssize_t sent = ::send(peer.fd, rest.data(), rest.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    peer.sent += static_cast<std::size_t>(sent);
  } else if (errno != EAGAIN && errno != EINTR) {
    fail(peer, &load_errors::reset, errno);
  }
}

// A receive that fills less than it could has emptied the socket (epoll(7)), so one is enough,
// unless the end of the stream came in the same event: no other will tell of it.
void load_loop::receive(connection& peer, bool to_the_end) {
  for (;;) {
    const ssize_t got = ::recv(peer.fd, input_.data(), input_.size(), 0);
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) fail(peer, &load_errors::reset, errno);
      return;
    }
    if (got == 0) return on_end(peer);
    const std::string_view bytes{input_.data(), static_cast<std::size_t>(got)};
    counts_.bytes_received += bytes.size();
    if (plan_.expects == reply_kind::echo) {
      on_echo(peer, bytes);
    } else {
      on_http(peer, bytes);
    }
    if (peer.state != link::waiting) return;
    if (bytes.size() < input_.size() && !to_the_end) return;
  }
}

void load_loop::on_echo(connection& peer, std::string_view bytes) {
  const std::string_view expected = std::string_view{plan_.request}.substr(peer.echoed);
  if (bytes.size() > expected.size()) return fail(peer, &load_errors::unasked);
  if (!expected.starts_with(bytes)) return fail(peer, &load_errors::malformed);
  peer.echoed += bytes.size();
  if (peer.echoed == plan_.request.size()) complete(peer, true);
}

void load_loop::on_http(connection& peer, std::string_view bytes) {
  const auto [state, used] = peer.framer.feed(bytes);
  if (state == response_framer::progress::incomplete) return;
  if (state == response_framer::progress::malformed) return fail(peer, &load_errors::malformed);
  if (used != bytes.size()) return fail(peer, &load_errors::unasked);
  count_status(peer.framer.status());
  complete(peer, peer.framer.keeps_alive());
}

void load_loop::complete(connection& peer, bool reuse) {
  const std::uint64_t time = now();
  ++counts_.requests;
  result_.latency.record(time - peer.since);
  if (reuse && peer.sent == plan_.request.size()) return begin_request(peer, time);
  close(peer);
  ++counts_.reconnects;
  open(peer, time);
}

void load_loop::on_end(connection& peer) {
  if (plan_.expects != reply_kind::echo && peer.framer.ends_at_close()) {
    count_status(peer.framer.status());
    complete(peer, false);
  } else {
    fail(peer, &load_errors::closed);
  }
}

void load_loop::count_status(int status) {
  if (status < 300) return;
  ++(status < 400 ? counts_.status_3xx : status < 500 ? counts_.status_4xx : counts_.status_5xx);
}

void load_loop::fail(connection& peer, std::uint64_t load_errors::* kind, int error) {
  ++(counts_.errors.*kind);
  if (result_.first_error == 0) result_.first_error = error;
  const bool was_up = peer.state == link::standing || peer.state == link::waiting;
  close(peer);
  if (!was_up || kind == &load_errors::timed_out) {
    down_.push_back(&peer);
    return;
  }
  ++counts_.reconnects;
  open(peer, now());
}

void load_loop::close(connection& peer) {
  if (peer.state == link::connecting) --connecting_;
  if (peer.fd >= 0) ::close(peer.fd);
  peer.fd = -1;
  peer.state = link::down;
}

}  // namespace

load_result run_load(const load_plan& plan, const volatile std::sig_atomic_t& stop,
                     load_observer* observer) {
  // Too large for the stack together with its buffers.
  return std::make_unique<load_loop>(plan, stop, observer)->run();
}

}  // namespace weft::bench
