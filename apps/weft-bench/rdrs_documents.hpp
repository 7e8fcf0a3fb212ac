// A batch of reads by primary key, as clients of the RonDB REST server send it, in structs.
//
// Contract: of any kind of text, so that a program may own the strings or only view them. Members
// are spelled as in JSON but `relative_url`, which JSON has as "relative-url". Plain C++20, for
// any standard library: the programs that weft is compared with include it too (bench/peers).
#pragma once

#include <string>
#include <vector>

namespace rdrs {

template <class Text>
struct filter_of {
  Text column;
  Text value;
};

template <class Text>
struct read_column_of {
  Text column;
  Text dataReturnType;
};

template <class Text>
struct key_read_of {
  std::vector<filter_of<Text>> filters;
  std::vector<read_column_of<Text>> readColumns;
  Text operationId;
};

template <class Text>
struct operation_of {
  Text method;
  Text relative_url;
  key_read_of<Text> body;
};

template <class Text>
struct batch_of {
  std::vector<operation_of<Text>> operations;
};

using filter = filter_of<std::string>;
using read_column = read_column_of<std::string>;
using key_read = key_read_of<std::string>;
using operation = operation_of<std::string>;
using batch = batch_of<std::string>;

}  // namespace rdrs
