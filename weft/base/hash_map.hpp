// Where a hash map is needed: hash_map<Key, Value>.
//
// Contract: std::unordered_map, or, in a build with WEFT_CONTAINERS=flat,
// boost::unordered_flat_map, which keeps its items in one array. Rely on what both promise: after
// an insertion no iterator, pointer or reference to another item is good any more; after erasing,
// those to other items are.
//
//   hash_map<std::string, int> ages;
//   ages.try_emplace("Ada", 36);
#pragma once

#ifdef WEFT_FLAT_CONTAINERS
#include <boost/unordered/unordered_flat_map.hpp>
#else
#include <unordered_map>
#endif

namespace weft {

#ifdef WEFT_FLAT_CONTAINERS
template <class Key, class Value>
using hash_map = boost::unordered_flat_map<Key, Value>;
#else
template <class Key, class Value>
using hash_map = std::unordered_map<Key, Value>;
#endif

}  // namespace weft
