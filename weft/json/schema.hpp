// JSON Schema (draft 2020-12) of what json::read takes and json::write gives.
//
// Problem: a schema written by hand beside the type it is of is wrong by the next release.
// Contract: made of shapes (shape.hpp). Objects have a definition each, under the shortest name
// that tells them apart: `order`, or `shop.order` beside another; all else stands where it is used.
// An object takes no other members; one that may be missing may be null, too. Of three things that
// the reader is stricter about, no schema can tell: 1.0 is no integer, the same name twice is
// refused, and an escaped name is unknown. Not on a hot path. Single thread.
//
//   const json::shape_function roots[] = {&json::shape_of<order>};
//   json::schema_set schemas{"#/components/schemas/", roots};
//   schemas.append(json::shape_of<order>(), out);   // {"$ref":"#/components/schemas/order"}
//   json::schema_text<order>();                     // a schema of its own
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/json/composer.hpp>
#include <weft/json/shape.hpp>

namespace weft::json {

class schema_set {
 public:
  /// Of the objects in `roots`. `place`, which outlives this, is where its owner puts the
  /// definitions: what their references begin with.
  schema_set(std::string_view place, std::span<const shape_function> roots);

  /// Of a shape that is among the roots, or in one of them. `text`: for people; empty: none.
  /// `bound`: of its number or numbers; nullptr: what their type can hold.
  void append(const shape& of, composer& out, std::string_view text = {},
              const member_bound* bound = nullptr) const;
  /// The same, as members of the object that is open.
  void append_keywords(const shape& of, composer& out, const member_bound* bound = nullptr) const;
  /// All definitions, as members of the object that is open.
  void append_definitions(composer& out) const;

 private:
  struct definition {
    const shape* of;
    std::string name;
  };

  void collect(const shape& of, std::vector<const shape*>& seen);
  void name_all();
  [[nodiscard]] std::string_view name_of(const shape& of) const;
  void append_members(const shape& of, composer& out) const;
  void append_alternatives(const shape& of, composer& out) const;
  void append_nullable(const shape& of, const member_bound* bound, composer& out) const;

  std::string_view place_;
  std::vector<definition> definitions_;
};

/// A whole document, with its definitions.
[[nodiscard]] std::string schema_text(shape_function of);
template <class T>
[[nodiscard]] std::string schema_text() {
  return schema_text(&shape_of<T>);
}

}  // namespace weft::json
