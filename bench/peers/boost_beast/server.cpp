// A ping server on Boost.Beast and Boost.JSON: a complete HTTP/1.1 parser and serialiser, and a
// JSON document parsed and written for each request.
//
// One thread and callbacks, which are faster than its coroutines. The sockets name the executor's
// type, so that nothing is type-erased; JSON values live in a buffer on the stack. There are no
// time-outs (beast::tcp_stream has them), which would cost more.
//
//   server 9100
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/src.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;

using executor = asio::io_context::executor_type;
using socket_type = asio::basic_stream_socket<asio::ip::tcp, executor>;
using acceptor_type = asio::basic_socket_acceptor<asio::ip::tcp, executor>;
using request_type = http::request<http::string_body>;
using response_type = http::response<http::string_body>;

// {"sequence": N} for a body that is one; nothing for another.
std::optional<std::string> ping(const std::string& body) {
  std::array<unsigned char, 1024> memory;
  json::static_resource resource{memory.data(), memory.size()};
  boost::system::error_code error;
  const json::value said = json::parse(body, error, &resource);
  if (error || !said.is_object()) return {};
  const json::value* const sequence = said.get_object().if_contains("sequence");
  if (sequence == nullptr || !sequence->is_number()) return {};
  json::object reply{&resource};
  reply["sequence"] = *sequence;
  return json::serialize(reply);
}

class connection : public std::enable_shared_from_this<connection> {
 public:
  explicit connection(socket_type socket) : socket_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                       if (!error) self->serve();
                     });
  }

 private:
  void serve() {
    response_ = {};
    response_.version(request_.version());
    response_.keep_alive(request_.keep_alive());
    answer();
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                        if (!error && self->response_.keep_alive()) self->read();
                      });
  }

  void answer() {
    if (request_.target() == "/plaintext" && request_.method() == http::verb::get) {
      response_.set(http::field::content_type, "text/plain");
      response_.body() = "Hello, World!";
      return;
    }
    if (request_.target() != "/ping" || request_.method() != http::verb::post) {
      return response_.result(http::status::not_found);
    }
    std::optional<std::string> body = ping(request_.body());
    if (!body) return response_.result(http::status::bad_request);
    response_.set(http::field::content_type, "application/json");
    response_.body() = std::move(*body);
  }

  socket_type socket_;
  beast::flat_buffer buffer_;
  request_type request_;
  response_type response_;
};

void accept(acceptor_type& listener) {
  listener.async_accept([&listener](const beast::error_code& error, socket_type socket) {
    if (!error) {
      socket.set_option(asio::ip::tcp::no_delay{true});
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
    std::fprintf(stderr, "boost_beast: %s\n", error.what());
    return 1;
  }
}
