// A ping server on libuv: its event loop and sockets with the ceilings' trivial parser on top.
//
// One thread. Input arrives in one buffer that all connections share, since libuv asks for it only
// when there is something to read; replies are tried at once with uv_try_write, and only what the
// socket does not take waits in a request of its own.
//
//   server 9100
#include <uv.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "../../ceilings/ping.hpp"

namespace {

struct connection {
  uv_tcp_t socket{};
  std::string unread;  // the start of a request whose rest has not come yet
};

struct pending_write {
  uv_write_t request{};
  std::string bytes;
};

std::array<char, ceiling::input_limit> input;
ceiling::reply_buffer replies;

uv_stream_t* stream_of(uv_tcp_t& socket) { return reinterpret_cast<uv_stream_t*>(&socket); }

connection& connection_of(uv_stream_t* stream) { return *static_cast<connection*>(stream->data); }

void close(connection& peer) {
  auto* const handle = reinterpret_cast<uv_handle_t*>(&peer.socket);
  if (uv_is_closing(handle) != 0) return;
  uv_close(handle, [](uv_handle_t* closed) { delete static_cast<connection*>(closed->data); });
}

void send(connection& peer, std::string_view bytes) {
  uv_buf_t buffer =
      uv_buf_init(const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
  const int sent = uv_try_write(stream_of(peer.socket), &buffer, 1);
  if (sent < 0 && sent != UV_EAGAIN) return close(peer);
  if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  if (bytes.empty()) return;

  auto rest = std::make_unique<pending_write>();
  rest->bytes = bytes;
  rest->request.data = rest.get();
  buffer = uv_buf_init(rest->bytes.data(), static_cast<unsigned>(rest->bytes.size()));
  const auto done = [](uv_write_t* request, int) {
    delete static_cast<pending_write*>(request->data);
  };
  if (uv_write(&rest->request, stream_of(peer.socket), &buffer, 1, done) != 0) return close(peer);
  static_cast<void>(rest.release());  // `done` deletes it
}

void serve(connection& peer, std::string_view bytes) {
  const bool continues = !peer.unread.empty();
  if (continues) bytes = peer.unread.append(bytes);
  replies.clear();
  ceiling::outcome request{};
  for (;;) {
    request = ceiling::serve_one(bytes, replies);
    if (request.what != ceiling::verdict::complete) break;
    bytes.remove_prefix(request.used);
    if (bytes.empty()) break;
  }
  if (request.what == ceiling::verdict::malformed || bytes.size() > ceiling::input_limit / 2) {
    return close(peer);
  }
  if (continues || !bytes.empty()) peer.unread = std::string{bytes};
  if (!replies.empty()) send(peer, replies.view());
}

void on_input(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
  connection& peer = connection_of(stream);
  if (size < 0) return close(peer);
  serve(peer, {buffer->base, static_cast<std::size_t>(size)});
}

void on_connection(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto peer = std::make_unique<connection>();
  uv_tcp_init(listener->loop, &peer->socket);
  peer->socket.data = peer.get();
  connection& accepted = *peer.release();  // close() deletes it
  if (uv_accept(listener, stream_of(accepted.socket)) != 0) return close(accepted);
  uv_tcp_nodelay(&accepted.socket, 1);
  const auto lend = [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
    // Half, so that what was unread before and what comes now fit the replies' buffer together.
    *buffer = uv_buf_init(input.data(), input.size() / 2);
  };
  uv_read_start(stream_of(accepted.socket), lend, on_input);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  uv_loop_t* const loop = uv_default_loop();
  uv_tcp_t listener{};
  uv_tcp_init(loop, &listener);
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", std::atoi(argv[1]), &address);
  int error = uv_tcp_bind(&listener, reinterpret_cast<const sockaddr*>(&address), 0);
  if (error == 0) error = uv_listen(stream_of(listener), 4096, on_connection);
  if (error != 0) {
    std::fprintf(stderr, "libuv: %s\n", uv_strerror(error));
    return 1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}
