// A ping server on standalone Asio: its reactor and sockets with the ceilings' trivial parser on
// top.
//
// One thread and callbacks, which are faster than its coroutines. The sockets name the executor's
// type, so that nothing is type-erased. A reply is tried at once and only its rest waited for.
//
//   server 9100
#include <array>
#include <asio.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "../../ceilings/ping.hpp"

namespace {

using executor = asio::io_context::executor_type;
using socket_type = asio::basic_stream_socket<asio::ip::tcp, executor>;
using acceptor_type = asio::basic_socket_acceptor<asio::ip::tcp, executor>;

ceiling::reply_buffer replies;

class connection : public std::enable_shared_from_this<connection> {
 public:
  explicit connection(socket_type socket) : socket_(std::move(socket)) {}

  void read() {
    if (used_ == input_.size()) return;  // a request too long: closes
    socket_.async_read_some(
        asio::buffer(input_.data() + used_, input_.size() - used_),
        [self = shared_from_this()](const std::error_code& error, std::size_t size) {
          if (!error) self->serve(size);
        });
  }

 private:
  void serve(std::size_t size) {
    std::string_view bytes{input_.data(), used_ + size};
    replies.clear();
    ceiling::outcome request{};
    for (;;) {
      request = ceiling::serve_one(bytes, replies);
      if (request.what != ceiling::verdict::complete) break;
      bytes.remove_prefix(request.used);
      if (bytes.empty()) break;
    }
    if (request.what == ceiling::verdict::malformed) return;  // closes
    std::memmove(input_.data(), bytes.data(), bytes.size());
    used_ = bytes.size();
    if (replies.empty()) return read();
    send(replies.view());
  }

  void send(std::string_view reply) {
    std::error_code error;
    std::size_t sent = socket_.write_some(asio::buffer(reply), error);
    if (error && error != asio::error::would_block) return;  // closes
    if (error) sent = 0;
    if (sent == reply.size()) return read();
    auto rest = std::make_unique<std::string>(reply.substr(sent));
    const auto bytes = asio::buffer(*rest);
    asio::async_write(socket_, bytes,
                      [self = shared_from_this(), rest = std::move(rest)](
                          const std::error_code& failure, std::size_t) {
                        if (!failure) self->read();
                      });
  }

  socket_type socket_;
  std::size_t used_ = 0;
  std::array<char, 1024> input_;
};

void accept(acceptor_type& listener) {
  listener.async_accept([&listener](const std::error_code& error, socket_type socket) {
    if (!error) {
      socket.set_option(asio::ip::tcp::no_delay{true});
      socket.non_blocking(true);
      std::make_shared<connection>(std::move(socket))->read();
    }
    accept(listener);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    asio::io_context context{1};
    const asio::ip::tcp::endpoint address{asio::ip::address_v4::loopback(),
                                          static_cast<unsigned short>(std::atoi(argv[1]))};
    acceptor_type listener{context.get_executor(), address};
    accept(listener);
    context.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asio: %s\n", error.what());
    return 1;
  }
}
