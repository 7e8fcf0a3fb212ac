// A report that prints what there is: every source of lines, and a title if somebody has one. The
// title goes while the program runs, and the report goes on without.
//
//   optional_and_many
#include <cstdio>
#include <string>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/service/container.hpp>

struct source {
  virtual ~source() = default;
  [[nodiscard]] virtual std::string line() const = 0;
};

struct weather : source {
  [[nodiscard]] std::string line() const override { return "sun"; }
};

struct traffic : source {
  [[nodiscard]] std::string line() const override { return "no traffic"; }
};

struct title {
  std::string text = "This morning";
};

class report {
 public:
  report(weft::many<source> sources, weft::maybe<title> heading)
      : sources_{sources}, heading_{heading} {}

  // Both are asked anew each time: services come and go.
  void print() const {
    std::puts(heading_ ? heading_->text.c_str() : "(no title)");
    for (const source& each : sources_) std::printf("- %s\n", each.line().c_str());
  }

 private:
  weft::many<source> sources_;
  weft::maybe<title> heading_;
};

weft::task<void> run(weft::container& services, weft::service_handle heading, bool& failed) {
  const auto started = co_await services.start();
  if (started) services.get<report>().print();
  if (co_await services.remove(heading)) services.get<report>().print();
  const auto stopped = co_await services.stop();
  failed = !started || !stopped;  // the log says what
}

int main() {
  auto loop = weft::event_loop::create({.backend = weft::backend_kind::automatic});
  if (!loop) return 1;
  weft::container services;
  services.add<report>();
  services.add<weather>().as<source>();
  services.add<traffic>().as<source>();
  const auto heading = services.add<title>().handle();
  bool failed = false;
  (*loop)->spawn(run(services, heading, failed));
  (*loop)->run();
  return failed ? 1 : 0;
}
