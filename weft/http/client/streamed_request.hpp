// A request that lasts while somebody reads or writes its body.
//
// Contract: internal to http. The client's core knows it, and closes what is left of it when it
// stops: then `core` is nullptr.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/client_exchange.hpp>
#include <weft/http/client/client_request.hpp>
#include <weft/http/client/client_stream.hpp>

namespace weft::http::detail {

struct streamed_request : open_stream {
  streamed_request(client_core& of, client_request text) noexcept
      : open_stream{&cut},
        request{std::move(text)},
        asked{request.view()},
        core{&of},
        exchange{of, asked, to, of.stream_bounds} {
    of.streams.push_back(*this);
  }
  ~streamed_request() {
    if (hook.is_linked()) hook.unlink();
  }
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  static void cut(open_stream& self) noexcept {
    auto& cut = static_cast<streamed_request&>(self);
    cut.exchange.leave();
    cut.core = nullptr;
  }

  /// What the exchange is to do, obeying the client as well as the caller. `work` takes the
  /// exchange and gives a task.
  template <class T, class F>
  task<client_result<T>> run(F work) {
    if (core == nullptr)
      co_return std::unexpected{
          describe_fault(asked, {errc::cancelled, "the client has been stopped"})};
    const client_core::request_under_way now{*core, co_await this_task::environment()};
    client_exchange::outcome<T> done = co_await work(exchange).in(now.env());
    if (!done) co_return std::unexpected{describe_fault(asked, std::move(done.error()))};
    if constexpr (std::is_void_v<T>)
      co_return client_result<void>{};
    else
      co_return std::move(*done);
  }

  client_request request;
  outgoing_request asked;
  std::string url_room;  // of read_url()
  url_parts to;
  client_core* core;
  client_exchange exchange;
};

}  // namespace weft::http::detail
