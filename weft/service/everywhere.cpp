#include <weft/service/everywhere.hpp>

#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/service/remote.hpp>

namespace weft {

void everywhere::provide_to(container& services) {
  const service_handle here = services.add<everywhere>().handle();
  services.add<detail::remote_offer<everywhere>>().as<remote<everywhere>>().bind<everywhere>(here);
}

struct everywhere::change_by_name final : deed {
  change_by_name(change_of_one change, detail::interface_key& of, std::string called)
      : what{change}, interface{of}, name{std::move(called)} {}
  [[nodiscard]] task<result<void>> on(container& services) const override {
    const auto one = services.handle_of(interface, name);
    if (!one) co_return fail(errc::not_found);
    co_return co_await (services.*what)(*one);
  }
  change_of_one what;
  detail::interface_key& interface;
  std::string name;
};

task<result<void>> everywhere::change(change_of_one what, detail::interface_key& interface,
                                      std::string name) {
  return on_each(std::make_shared<const change_by_name>(what, interface, std::move(name)));
}

task<result<void>> everywhere::on_each(part what) {
  const mesh_port* const port = loop_.port();
  const std::size_t shards = port == nullptr ? 1 : port->shards().size();
  std::vector<result<void>> answers(shards);
  result<void>& here = answers[port == nullptr ? 0 : loop_.shard()];
  here = co_await what->on(services_);
  if (!here && here.error() != errc::not_found) co_return here;
  scope under_way{co_await this_task::environment()};
  for (unsigned shard = 0; shard < shards; ++shard)
    if (&answers[shard] != &here) under_way.spawn(ask(shard, what, answers[shard]));
  co_await under_way.join();
  bool is_somewhere = false;
  for (const result<void>& each : answers) {
    if (!each && each.error() != errc::not_found) co_return each;
    is_somewhere = is_somewhere || each;
  }
  if (!is_somewhere) co_return fail(errc::not_found);
  co_return result<void>{};
}

task<result<void>> everywhere::carry_out(part what) { co_return co_await what->on(services_); }

task<void> everywhere::ask(unsigned shard, part what, result<void>& answer) {
  const remote<everywhere> there{shard};
  answer = co_await there.call(&everywhere::carry_out, std::move(what));
}

}  // namespace weft
