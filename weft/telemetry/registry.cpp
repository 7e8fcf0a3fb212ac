#include <weft/telemetry/registry.hpp>

#include <utility>

#include <weft/telemetry/catalogue.hpp>

namespace weft::telemetry {

registry::registry(registry_options options)
    : catalogue_{std::make_unique<detail::catalogue>(options)} {}

registry::~registry() = default;

meter& registry::shard(unsigned index) noexcept { return catalogue_->shard(index); }

snapshot registry::read() const { return catalogue_->read(); }

source_registration registry::add_source(source add_series) {
  return {*catalogue_, catalogue_->add_source(std::move(add_series))};
}

source_registration::source_registration(source_registration&& other) noexcept
    : keeper_{std::exchange(other.keeper_, nullptr)}, number_{other.number_} {}

source_registration& source_registration::operator=(source_registration&& other) noexcept {
  source_registration taken{std::move(other)};
  std::swap(keeper_, taken.keeper_);
  std::swap(number_, taken.number_);
  return *this;
}

source_registration::~source_registration() {
  if (keeper_ != nullptr) keeper_->remove_source(number_);
}

}  // namespace weft::telemetry
