// A server that speaks TLS, and says whom it has spoken with.
//
//   name="-subj /CN=localhost -addext subjectAltName=DNS:localhost"
//   openssl req -x509 -newkey rsa -nodes -days 30 $name -keyout site.key -out site.pem
//   files="--http.server.tls.certificate site.pem --http.server.tls.key site.key"
//   build/release/examples/https/https --listen 127.0.0.1:8443 $files &
//   curl --cacert site.pem https://localhost:8443/whoami
//   kill -HUP $!                           when there is a new certificate in the files
#include <string>

#include <weft/http/server.hpp>
#include <weft/net/tls_info.hpp>
#include <weft/service/application.hpp>

namespace {

namespace http = weft::http;

struct visitor {
  std::string scheme{};
  std::string name_asked_for{};
  std::string subject{};  // of the client's certificate
  bool is_resumed = false;
};

class reception {
 public:
  explicit reception(http::server& server) {
    server.get("/whoami", [](const http::request& asked) {
      visitor seen{.scheme = std::string{asked.scheme()}};
      if (const weft::net::tls_info* tls = asked.tls()) {
        seen.name_asked_for = tls->server_name;
        seen.subject = tls->peer_subject;
        seen.is_resumed = tls->is_resumed;
      }
      return seen;
    });
    server.post("/echo", [](const http::request& asked) { return std::string{asked.body()}; });
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Says over TLS whom it has spoken with"}};
  http::server_options server{.listen = "127.0.0.1:8443"};
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<http::server>(server);
  app.add<reception>();
  return app.run();
}
