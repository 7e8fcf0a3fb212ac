// All databases and tables an engine has, as of one moment.
//
// Problem: each request names a database, a table and columns, and must not ask the engine what
// they are. Contract: immutable; a changed schema is another catalog. A catalog_ref keeps one:
// hold it as long as you hold a table of it, over waits, too. A shard has its own catalog, whose
// references are counted without atomics: a catalog_ref stays on its shard. Look-ups allocate
// nothing; names are compared as they are written.
//
//   const catalog_ref schema = engine.schema();
//   const table* orders = schema->find("shop", "orders");       // nullptr: there is none
//   if (const auto* why = schema->refused("shop")) log::error(why->message);
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/hash_map.hpp>
#include <weft/store/failure.hpp>
#include <weft/store/table.hpp>

namespace weft::store {

class catalog {
 public:
  struct database_definition {
    std::string name;
    std::vector<table_definition> tables;
  };

  /// A database that should be served, and cannot be now.
  struct refused_database {
    std::string name;
    failure_kind why = failure_kind::other;
    std::string message;  // names the database, the cause and the fix

    friend bool operator==(const refused_database&, const refused_database&) = default;
  };

  explicit catalog(std::vector<database_definition> databases,
                   std::vector<refused_database> refused = {});
  catalog(const catalog&) = delete;
  catalog& operator=(const catalog&) = delete;

  [[nodiscard]] bool has(std::string_view database) const noexcept {
    return databases_.contains(database);
  }
  /// nullptr: no such database, or no such table in it.
  [[nodiscard]] const table* find(std::string_view database,
                                  std::string_view table_name) const noexcept;
  /// nullptr: it is served, or there is none of that name.
  [[nodiscard]] const refused_database* refused(std::string_view database) const noexcept;
  [[nodiscard]] std::span<const refused_database> refused() const noexcept { return refused_; }
  /// The table of this catalog that is the same as one of another; nullptr: there is none.
  [[nodiscard]] const table* current(const table& named) const noexcept {
    if (&named.owner() == this) [[likely]]
      return &named;
    const table* const now = find(named.database(), named.name());
    return now != nullptr && now->definition() == named.definition() ? now : nullptr;
  }
  /// The databases' names, as they were given.
  [[nodiscard]] std::span<const std::string> databases() const noexcept { return names_; }
  /// In the order they were given.
  [[nodiscard]] std::span<const std::unique_ptr<const table>> tables() const noexcept {
    return tables_;
  }

 private:
  friend class catalog_ref;
  using table_map = hash_map<std::string_view, const table*>;

  std::vector<std::string> names_;
  std::vector<std::unique_ptr<const table>> tables_;
  hash_map<std::string_view, table_map> databases_;
  std::vector<refused_database> refused_;
  mutable std::size_t references_ = 0;
};

class catalog_ref {
 public:
  catalog_ref() noexcept = default;
  explicit catalog_ref(std::unique_ptr<const catalog> made) noexcept : at_{made.release()} {
    take();
  }
  catalog_ref(const catalog_ref& other) noexcept : at_{other.at_} { take(); }
  catalog_ref(catalog_ref&& other) noexcept : at_{std::exchange(other.at_, nullptr)} {}
  catalog_ref& operator=(catalog_ref other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~catalog_ref() {
    if (at_ != nullptr && --at_->references_ == 0) delete at_;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return at_ != nullptr; }
  [[nodiscard]] const catalog* get() const noexcept { return at_; }
  const catalog& operator*() const noexcept { return *at_; }
  const catalog* operator->() const noexcept { return at_; }

 private:
  void take() noexcept {
    if (at_ != nullptr) ++at_->references_;
  }
  const catalog* at_ = nullptr;
};

}  // namespace weft::store
