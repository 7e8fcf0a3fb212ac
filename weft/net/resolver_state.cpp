#include <weft/net/resolver_state.hpp>

#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>

namespace weft::net::detail {
namespace {

constexpr duration time_between_looks = std::chrono::seconds{1};

errc meaning(int status) noexcept {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
    case ARES_ENONAME: return errc::not_found;
    case ARES_ETIMEOUT: return errc::timed_out;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION: return errc::cancelled;
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
    case ARES_EBADSTR:
    case ARES_EBADFAMILY: return errc::invalid_argument;
    case ARES_EBADRESP:
    case ARES_EFORMERR: return errc::protocol_error;
    case ARES_ENOMEM: return errc::exhausted;
    default: return errc::unavailable;
  }
}

endpoint with_port(const ares_addrinfo_node& node, std::uint16_t port) noexcept {
  raw_address address;
  address.size_bytes = node.ai_addrlen;
  std::memcpy(&address.storage, node.ai_addr, node.ai_addrlen);
  if (node.ai_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = htons(port);
  return endpoint{address};
}

std::string joined(const std::vector<std::string>& servers) {
  std::string text;
  for (const std::string& server : servers) text += (text.empty() ? "" : ",") + server;
  return text;
}

/// Once a program, before its first channel.
int initialise_library() noexcept {
  static const int status = ::ares_library_init(ARES_LIB_INIT_ALL);
  return status;
}

}  // namespace

int resolver_state::make_channel(ares_channel& into) {
  using std::chrono::milliseconds;
  ares_options wanted{};
  wanted.timeout =
      static_cast<int>(std::chrono::ceil<milliseconds>(options_.attempt_timeout).count());
  wanted.tries = options_.attempts;
  wanted.sock_state_cb = &on_socket;
  wanted.sock_state_cb_data = this;
  wanted.resolvconf_path = options_.file.data();
  wanted.udp_port = wanted.tcp_port = options_.port;
  int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF |
             ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT;
#ifdef ARES_OPT_QUERY_CACHE
  mask |= ARES_OPT_QUERY_CACHE;  // since 1.31 there is one, unless it is given no time
#endif
  int status = initialise_library();
  ares_channel made = nullptr;
  if (status == ARES_SUCCESS) status = ::ares_init_options(&made, &wanted, mask);
  if (status == ARES_SUCCESS && !options_.servers.empty())
    status = ::ares_set_servers_ports_csv(made, joined(options_.servers).c_str());
  if (status == ARES_SUCCESS)
    into = made;
  else if (made != nullptr)
    ::ares_destroy(made);
  return status;
}

result<void> resolver_state::open(const resolver_options& options) {
  options_ = options;
  file_ = mark_of(options_.file);  // before it is read: a change meanwhile is seen later
  if (const int status = make_channel(channel_); status != ARES_SUCCESS)
    return fail(meaning(status));
  return {};
}

std::optional<resolver_state::file_mark> resolver_state::mark_of(const std::string& file) noexcept {
  struct stat facts{};
  if (::stat(file.c_str(), &facts) != 0) return std::nullopt;
  return file_mark{.device = facts.st_dev,
                   .inode = facts.st_ino,
                   .size_bytes = facts.st_size,
                   .changed_s = facts.st_mtim.tv_sec,
                   .changed_ns = facts.st_mtim.tv_nsec};
}

void resolver_state::look_at_file() {
  if (!options_.servers.empty() || loop_.now() < next_look_) return;
  next_look_ = saturated_sum(loop_.now(), time_between_looks);
  const auto now = mark_of(options_.file);
  if (!now || now == file_) return;
  std::vector<lookup_wait*> waiters;
  waiters.reserve(waiting_);
  ares_channel made = nullptr;
  const int status = make_channel(made);
  if (status != ARES_SUCCESS) {
    log::warning(
        weft::format("names are looked up as before: {} has changed, and cannot be used: {}",
                     options_.file, ::ares_strerror(status)));
    return;
  }
  file_ = now;
  replace_channel(made, waiters);
  log::info(weft::format("{} has changed: names are looked up by what it says now", options_.file));
}

/// The old one answers all its lookups as it ends; those who wait for them are noted in `waiters`,
/// which has room for them, and ask anew.
void resolver_state::replace_channel(ares_channel by, std::vector<lookup_wait*>& waiters) {
  moving_ = &waiters;
  ::ares_destroy(std::exchange(channel_, by));
  moving_ = nullptr;
  for (lookup_wait* const each : waiters) {
    try {
      begin(*each);
    } catch (const std::bad_alloc&) {
      each->answered(ARES_ENOMEM, nullptr);
    }
  }
}

void resolver_state::ask(lookup_wait& waiter) {
  look_at_file();
  begin(waiter);
  settle();
}

void resolver_state::begin(lookup_wait& waiter) {
  const ares_addrinfo_hints hints{
      .ai_flags = 0, .ai_family = waiter.family_, .ai_socktype = SOCK_STREAM, .ai_protocol = 0};
  waiter.asked_ = new lookup{.owner = this, .waiter = &waiter};
  ++asked_;
  ++waiting_;
  ::ares_getaddrinfo(channel_, waiter.name_.c_str(), nullptr, &hints, &on_answer, waiter.asked_);
}

void resolver_state::on_answer(void* argument, int status, int /*timeouts*/, ares_addrinfo* found) {
  lookup* const asked = static_cast<lookup*>(argument);
  resolver_state& self = *asked->owner;
  lookup_wait* const waiter = asked->waiter;
  delete asked;
  --self.asked_;
  if (waiter != nullptr) {
    --self.waiting_;
    if (self.moving_ != nullptr)
      self.moving_->push_back(waiter);
    else
      waiter->answered(status, found);
  }
  if (found != nullptr) ::ares_freeaddrinfo(found);
}

void resolver_state::forget(lookup& asked) noexcept {
  asked.waiter = nullptr;
  --waiting_;
  if (waiting_ == 0 && asked_ != 0) ::ares_cancel(channel_);
  settle();
}

void resolver_state::abandon() noexcept {
  if (channel_ != nullptr) ::ares_destroy(std::exchange(channel_, nullptr));
  settle();
}

void resolver_state::on_socket(void* argument, ares_socket_t fd, int readable, int writable) {
  static_cast<resolver_state*>(argument)->watch(fd, readable != 0, writable != 0);
}

void resolver_state::watch(int fd, bool readable, bool writable) {
  socket_watch* found = nullptr;
  for (socket_watch& w : watches_)
    if (w.reader.fd == fd && !w.closed) found = &w;
  if (found == nullptr) {
    if (!readable && !writable) return;
    found = new socket_watch{*this, fd};
    watches_.push_back(*found);
  }
  found->reader.wanted = readable;
  found->writer.wanted = writable;
  found->closed = !readable && !writable;
  update(found->reader);
  update(found->writer);
}

void resolver_state::update(watch_half& half) noexcept {
  if (half.wanted && !half.pending) {
    half.cancelled = false;
    half.pending = true;
    // c-ares may be on the stack: it hears of an answer from the ready queue.
    if (loop_.io().start(half)) loop_.schedule(half);
  } else if (!half.wanted && half.pending && !half.cancelled) {
    loop_.io().cancel(half);
  }
}

void resolver_state::on_ready(operation& op) noexcept {
  auto& half = static_cast<watch_half&>(op);
  resolver_state& self = half.watch.owner;
  if (half.wanted && op.result != -ECANCELED) {
    const bool reads = op.kind == operation_kind::readable;
    self.process(reads ? half.fd : ARES_SOCKET_BAD, reads ? ARES_SOCKET_BAD : half.fd);
  }
  self.update(half);
  self.settle();
}

void resolver_state::on_timeout(timer& self) noexcept {
  auto& state = static_cast<resolver_state&>(self);
  state.process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  state.settle();
}

void resolver_state::process(ares_socket_t readable, ares_socket_t writable) noexcept {
  ::ares_process_fd(channel_, readable, writable);
}

/// After each call to c-ares: what it has closed is forgotten, and what it waits for is timed.
void resolver_state::settle() noexcept {
  for (auto at = watches_.begin(); at != watches_.end();) {
    socket_watch& w = *at++;
    if (!w.closed || w.pending()) continue;
    w.hook.unlink();
    delete &w;
  }
  loop_.timers().disarm(*this);
  if (channel_ == nullptr) {
    if (watches_.empty()) delete this;
    return;
  }
  timeval left{};
  if (::ares_timeout(channel_, nullptr, &left) == nullptr) return;
  loop_.timers().arm(*this, loop_.now() + std::chrono::seconds{left.tv_sec} +
                                std::chrono::microseconds{left.tv_usec});
}

bool lookup_wait::begin(std::coroutine_handle<> waiting, const environment& env) {
  if (env.stop.stop_requested() || env.until.passed(state_.loop().now())) {
    outcome_ = fail(env.stop.stop_requested() ? errc::cancelled : errc::timed_out);
    return false;
  }
  state_.ask(*this);
  if (asked_ == nullptr) return false;
  waiting_ = waiting;
  env.stop.subscribe(*this);
  if (!env.until.is_never()) state_.loop().timers().arm(*this, env.until.when());
  return true;
}

void lookup_wait::answered(int status, const ares_addrinfo* found) {
  asked_ = nullptr;
  std::vector<endpoint> addresses;
  if (status == ARES_SUCCESS)
    for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next)
      addresses.push_back(with_port(*node, port_));
  if (!addresses.empty())
    outcome_ = std::move(addresses);
  else
    outcome_ = fail(status == ARES_SUCCESS ? errc::not_found : meaning(status));
  if (waiting_) wake();
}

void lookup_wait::leave(errc why) noexcept {
  outcome_ = fail(why);
  wake();
  state_.forget(*std::exchange(asked_, nullptr));
}

void lookup_wait::wake() noexcept {
  stop_registration::disarm();
  state_.loop().timers().disarm(*this);
  state_.loop().schedule(*this);
}

}  // namespace weft::net::detail
