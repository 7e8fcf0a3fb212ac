// Takes the chunked transfer coding off a request's body (RFC 9112 section 7.1).
//
// Problem: where a body ends decides where the next request begins, so whatever two parsers could
// read differently must be an error; and a body arrives in pieces of any size. Contract: decode()
// is given the next bytes, takes as many as belong to the body, appends their content to `out` and
// says how many it took: all of them with `incomplete`, up to the end of the trailer with
// `complete`. next() does the same for one piece of content, which it shows where it lies. The
// answer does not depend on how the bytes were cut. Sizes are at most 16
// hexadecimal digits, lines end in CR LF and data is followed by CR LF, extensions are checked and
// dropped, trailer fields too: they never become headers. Limits hold for each body: body_bytes
// (413, as soon as a size says it), chunk_extension_bytes for one chunk, trailer_bytes for all of
// the trailer. Allocates only what `out` does. Single thread; 32 bytes.
//
//   chunked_decoder decoder;
//   chunked_progress step = decoder.decode(received, body, bounds);
//   received.remove_prefix(step.consumed_bytes);
//   if (step.status == chunked_status::failed) answer(decoder.fault());     // and close
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/http/fault.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {

enum class chunked_status : std::uint8_t { incomplete, complete, failed };

struct chunked_progress {
  chunked_status status;
  std::size_t consumed_bytes;
};

struct chunked_piece {
  chunked_status status;
  std::size_t consumed_bytes;  // with what frames the content
  std::string_view content;    // empty: there was none in all of the input, or none is left
};

class chunked_decoder {
 public:
  // `padded`: of a response, whose server may fill sizes up with white space, as old ones do. In a
  // request that would be a way past whoever reads it otherwise.
  enum class sizes : std::uint8_t { strict, padded };
  explicit chunked_decoder(sizes how = sizes::strict) noexcept : sizes_{how} {}

  // Up to the end of the first content in `input`. After `complete` or `failed` the next call must
  // be reset().
  [[nodiscard]] chunked_piece next(std::string_view input, const limits& bounds) noexcept;

  // All of `input`, as far as it belongs to the body. Work: O(bytes).
  [[nodiscard]] chunked_progress decode(std::string_view input, std::string& out,
                                        const limits& bounds);

  // After `failed`; its offset counts from the first byte of the body on the wire.
  [[nodiscard]] protocol_fault fault() const noexcept { return describe(fault_, offset_); }

  void reset() noexcept { *this = chunked_decoder{sizes_}; }

 private:
  enum class step : std::uint8_t {
    size,
    padding,
    extension,
    extension_name_start,
    extension_name,
    after_extension_name,
    extension_value_start,
    extension_value,
    quoted,
    quoted_escape,
    after_quoted,
    size_line_end,
    data,
    data_cr,
    data_lf,
    trailer_line,
    trailer_name,
    trailer_value,
    trailer_line_end,
    last_line_end,
    finished
  };

  std::string_view take_data(std::string_view input) noexcept;
  bool take(char c, const limits& bounds) noexcept;
  bool take_size(char c, const limits& bounds) noexcept;
  bool take_extension(char c, const limits& bounds) noexcept;
  bool take_trailer(char c, const limits& bounds) noexcept;
  bool begin_extension(char c) noexcept;
  bool begin_data() noexcept;
  bool expect(char c, char wanted, step next, fault_kind otherwise) noexcept;
  bool go(step next) noexcept;
  bool fail(fault_kind kind) noexcept;

  std::uint64_t left_ = 0;     // of the chunk: its size while that is read, then its data
  std::uint64_t content_ = 0;  // bytes of all chunks so far
  std::uint64_t offset_ = 0;   // on the wire
  std::uint32_t counted_ = 0;  // digits of a size, bytes of an extension or of the trailer
  step step_ = step::size;
  fault_kind fault_ = fault_kind::none;
  sizes sizes_;
};

static_assert(sizeof(chunked_decoder) <= 32);

}  // namespace weft::http
