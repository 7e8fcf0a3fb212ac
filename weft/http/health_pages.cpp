#include <weft/http/health_pages.hpp>

#include <algorithm>
#include <exception>
#include <optional>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/json/write.hpp>

namespace weft::http {
namespace {

struct unready_part {
  std::string name;
  std::string why;
};

struct readiness_report {
  bool ready;
  std::vector<unready_part> not_ready;
};

}  // namespace

struct health_pages::part final : registration {
  part(health_pages& of, std::string called, question f)
      : registration{&on_end}, pages{of}, name{std::move(called)}, call{std::move(f)} {}

  static void on_end(registration& self) noexcept {
    auto& ending = static_cast<part&>(self);
    ending.ended = true;
    std::erase_if(ending.pages.parts_,
                  [&ending](const std::shared_ptr<part>& each) { return each.get() == &ending; });
  }

  /// The service is kept meanwhile, and so is what it has added.
  static task<void> ask(std::shared_ptr<part> self, duration timeout,
                        std::vector<unready_part>& not_ready) {
    if (self->ended) co_return;
    std::optional<lifetime::use> kept;
    if (self->owner() != nullptr) kept.emplace(*self->owner());
    std::string why;
    try {
      const result<void> outcome = co_await with_timeout(timeout, self->call());
      if (!outcome) why = outcome.error().message();
    } catch (const std::exception& thrown) {
      log::error(weft::format("the check \"{}\" threw: {}", self->name, thrown.what()));
      why = "it failed";
    }
    if (!why.empty()) not_ready.push_back({self->name, std::move(why)});
    self.reset();  // before its service may go
  }

  health_pages& pages;
  std::string name;
  question call;
  bool ended = false;
};

health_pages::health_pages(options chosen, server& http) : http_{http}, timeout_{chosen.timeout} {
  http.get(chosen.health, described([] { return "ok\n"; }, {.summary = "Whether it lives"}));
  http.get(
      chosen.readiness,
      described([this] { return readiness(); },
                {.summary = "Whether it is ready",
                 .replies = {{.code = status::ok, .content = &json::shape_of<readiness_report>},
                             {.code = status::service_unavailable,
                              .content = &json::shape_of<readiness_report>}}}));
}

health_pages::~health_pages() = default;

void health_pages::add(std::string name, question f, lifetime* owner) {
  auto added = std::make_shared<part>(*this, std::move(name), std::move(f));
  parts_.push_back(added);
  if (owner == nullptr) return;
  owner->prepare_use();
  owner->attach(*added);
}

task<response> health_pages::readiness() {
  readiness_report report{};
  scope asking{co_await this_task::environment(), failure_policy::collect};
  for (const std::shared_ptr<part>& each : parts_)
    asking.spawn(part::ask(each, timeout_, report.not_ready));
  co_await asking.join();
  if (http_.is_draining()) report.not_ready.push_back({"server", "it is about to end"});
  std::ranges::sort(report.not_ready, {}, &unready_part::name);
  report.ready = report.not_ready.empty();
  std::string text;
  json::write(report, text);
  co_return response::json_text(std::move(text),
                                report.ready ? status::ok : status::service_unavailable);
}

}  // namespace weft::http
