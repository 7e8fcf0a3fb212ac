// A TCP echo on Asio: the standalone one, or with -DPEER_BOOST that of Boost, which is the same but
// for its namespace.
//
// One thread and callbacks; the sockets name the executor's type, so that nothing is type-erased.
// What was read is written at once, and only what the socket does not take is waited for.
//
//   echo 9100
#include <array>
#ifdef PEER_BOOST
#include <boost/asio.hpp>
namespace asio = boost::asio;
using error_code = boost::system::error_code;
#else
#include <asio.hpp>
using error_code = asio::error_code;
#endif
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

using executor = asio::io_context::executor_type;
using socket_type = asio::basic_stream_socket<asio::ip::tcp, executor>;
using acceptor_type = asio::basic_socket_acceptor<asio::ip::tcp, executor>;

class connection : public std::enable_shared_from_this<connection> {
 public:
  explicit connection(socket_type socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(asio::buffer(bytes_),
                            [self = shared_from_this()](const error_code& error, std::size_t size) {
                              if (!error) self->write(size);
                            });
  }

 private:
  void write(std::size_t size) {
    error_code error;
    const std::size_t sent = socket_.write_some(asio::buffer(bytes_.data(), size), error);
    if (error && error != asio::error::would_block) return;  // closes
    if (sent == size) return read();
    asio::async_write(socket_, asio::buffer(bytes_.data() + sent, size - sent),
                      [self = shared_from_this()](const error_code& failure, std::size_t) {
                        if (!failure) self->read();
                      });
  }

  socket_type socket_;
  std::array<char, 4096> bytes_;
};

void accept(acceptor_type& listener) {
  listener.async_accept([&listener](const error_code& error, socket_type socket) {
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
