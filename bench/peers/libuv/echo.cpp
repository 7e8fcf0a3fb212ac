// A TCP echo on libuv.
//
// One thread, and one buffer that all connections read into: what was read is written at once with
// uv_try_write. Only what the socket does not take is kept, and until it has gone, nothing more is
// read.
//
//   echo 9100
#include <uv.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

struct connection {
  uv_tcp_t socket{};
  uv_write_t request{};
  std::string rest;  // read, and not yet written
};

std::array<char, std::size_t{64} * 1024> input;

uv_stream_t* stream_of(connection& peer) { return reinterpret_cast<uv_stream_t*>(&peer.socket); }

void close(connection& peer) {
  auto* const handle = reinterpret_cast<uv_handle_t*>(&peer.socket);
  if (uv_is_closing(handle) != 0) return;
  uv_close(handle, [](uv_handle_t* closed) { delete static_cast<connection*>(closed->data); });
}

void read(connection& peer);

void write_rest(connection& peer, std::string_view bytes) {
  uv_read_stop(stream_of(peer));
  peer.rest = bytes;
  peer.request.data = &peer;
  const uv_buf_t buffer = uv_buf_init(peer.rest.data(), static_cast<unsigned>(peer.rest.size()));
  const auto done = [](uv_write_t* request, int status) {
    auto& writer = *static_cast<connection*>(request->data);
    if (status != 0) return close(writer);
    writer.rest = {};
    read(writer);
  };
  if (uv_write(&peer.request, stream_of(peer), &buffer, 1, done) != 0) close(peer);
}

void write(connection& peer, std::string_view bytes) {
  const uv_buf_t buffer =
      uv_buf_init(const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
  const int sent = uv_try_write(stream_of(peer), &buffer, 1);
  if (sent < 0 && sent != UV_EAGAIN) return close(peer);
  if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  if (!bytes.empty()) write_rest(peer, bytes);
}

void on_input(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
  connection& peer = *static_cast<connection*>(stream->data);
  if (size < 0) return close(peer);
  if (size > 0) write(peer, {buffer->base, static_cast<std::size_t>(size)});
}

void read(connection& peer) {
  const auto lend = [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
    *buffer = uv_buf_init(input.data(), input.size());
  };
  uv_read_start(stream_of(peer), lend, on_input);
}

void on_connection(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto* const peer = new connection;  // close() deletes it
  uv_tcp_init(listener->loop, &peer->socket);
  peer->socket.data = peer;
  if (uv_accept(listener, stream_of(*peer)) != 0) return close(*peer);
  uv_tcp_nodelay(&peer->socket, 1);
  read(*peer);
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
  auto* const stream = reinterpret_cast<uv_stream_t*>(&listener);
  if (error == 0) error = uv_listen(stream, 4096, on_connection);
  if (error != 0) {
    std::fprintf(stderr, "libuv: %s\n", uv_strerror(error));
    return 1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}
