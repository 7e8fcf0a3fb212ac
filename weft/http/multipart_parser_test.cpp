#include <weft/http/multipart_parser.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace weft::http {
namespace {

// The events as text: "<name|filename|type>data" for each part, then "." or why it failed. Each
// piece of the input lies in memory of its own.
std::string told_of(std::string_view boundary, std::string_view body, std::size_t piece_bytes,
                    const multipart_limits& bounds = {}) {
  multipart_parser form{boundary, bounds};
  std::string text;
  for (std::size_t at = 0; at < body.size(); at += piece_bytes) {
    const std::string piece{body.substr(at, piece_bytes)};
    for (std::string_view input = piece; !input.empty();) {
      switch (form.next(input)) {
        case multipart_event::need_more: EXPECT_TRUE(input.empty()); break;
        case multipart_event::part:
          text.append("<").append(form.part().name).append("|");
          text.append(form.part().filename.value_or("-")).append("|");
          text.append(form.part().content_type).append(">");
          break;
        case multipart_event::data: text.append(form.data()); break;
        case multipart_event::part_end: text.append("$"); break;
        case multipart_event::finished: EXPECT_TRUE(form.is_finished()); break;
        case multipart_event::failed:
          return text + std::to_string(static_cast<int>(form.fault().code)) + " " +
                 std::string{form.fault().reason};
      }
    }
  }
  return text + (form.is_finished() ? "." : "");
}

struct form_case {
  std::string_view body;
  std::string_view read;
};

const std::vector<form_case>& body_cases() {
  static const std::vector<form_case> all = {
      // RFC 7578 section 4.
      {"--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--B--\r\n",
       "<a|-|text/plain>one$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n"
       "--B\r\nContent-Disposition: form-data; name=f; filename=\"x.txt\"\r\n"
       "Content-Type: text/html; charset=utf-8\r\n\r\ntwo\r\nlines\r\n--B--",
       "<a|-|text/plain>one$<f|x.txt|text/html; charset=utf-8>two\r\nlines$."},
      {"--B\r\ncontent-disposition:form-data;name=a\r\n\r\n\r\n--B--", "<a|-|text/plain>$."},
      {"--B\r\nX-Other: 1\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--",
       "<a|-|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: binary\r\n\r\n"
       "1\r\n--B--",
       "<a|-|text/plain>1$."},
      // As .NET has it: a name for those that know no UTF-8, and one for the others.
      {"--B\r\nContent-Disposition: form-data; name=a; filename=b; filename*=utf-8''c%20d\r\n\r\n"
       "1\r\n--B--",
       "<a|c d|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name = a; filename*=UTF-8''b\r\n\r\n1\r\n--B--",
       "<a|b|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a; filename=b; filename*=big5''%a4\r\n\r\n"
       "1\r\n--B--",
       "<a|b|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a; filename*=big5''%a4\r\n\r\n1\r\n--B--",
       "<a|unnamed|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type:\r\n\r\n1\r\n--B--",
       "<a|-|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type: \t \r\n\r\n1\r\n--B--",
       "<a|-|text/plain>1$."},
      // A file input of a browser, without a file.
      {"--B\r\nContent-Disposition: form-data; name=a; filename=\"\"\r\n"
       "Content-Type: application/octet-stream\r\n\r\n\r\n--B--",
       "<a|-|application/octet-stream>$."},
      {"--B\r\nContent-Disposition: form-data; name=a; filename=\r\n\r\n\r\n--B--",
       "<a|-|text/plain>$."},
      {"--B\r\nContent-Disposition: form-data; name=a; filename\r\n\r\n\r\n--B--",
       "<a|-|text/plain>$."},
      {"--B\r\nContent-Disposition: form-data; name=a; filename*=utf-8''%ff; filename=b\r\n\r\n"
       "1\r\n--B--",
       "<a|b|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a; filename*=bad\r\n\r\n1\r\n--B--",
       "<a|unnamed|text/plain>1$."},
      // RFC 2045 section 5.2: a type that is none is the default.
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type: foo\r\n\r\n1\r\n--B--",
       "<a|-|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type: "
       "a/b;c=1;c=2\r\n\r\n1\r\n--B--",
       "<a|-|text/plain>1$."},
      {"--B--\r\n", "."},
      // RFC 2046 section 5.1.1: preamble, epilogue, padding, a part without content.
      {"\r\n--B--", "."},
      {"a preamble\r\nwith --B in it\r\r\n-\r\n--\r\n--B--", "."},
      {"--B--\r\nan epilogue\r\n--B\r\n", "."},
      {"--B \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--  \r\n",
       "<a|-|text/plain>1$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\n--B--", "<a|-|text/plain>$."},
      // What only looks like a boundary is content.
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\n-\r-\n--\r\n-\r\n--\r\n--b\r\r\n--B--",
       "<a|-|text/plain>-\r-\n--\r\n-\r\n--\r\n--b\r$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\n--\n--B\r\n--B--",
       "<a|-|text/plain>--\n--B$."},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n\r\n\r\n--B--",
       "<a|-|text/plain>\r\n\r\n$."},
      // Not yet whole.
      {"", ""},
      {"--B", ""},
      {"--B\r\nContent-Disp", ""},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n--", "<a|-|text/plain>one"},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n--B-", "<a|-|text/plain>one$"},
      // Refused.
      {"--BX\r\n", "400 a line begins with the boundary and goes on"},
      {"--B\n", "400 a line begins with the boundary and goes on"},
      {"--B\rX", "400 no CR LF behind a boundary"},
      {"--B-X", "400 one hyphen behind a boundary"},
      {"--B --", "400 a line begins with the boundary and goes on"},
      {"--B\r\n\r\n1\r\n--B--", "400 a part without Content-Disposition"},
      {"--B\r\nContent-Type: text/plain\r\n\r\n1", "400 a part without Content-Disposition"},
      {"--B\r\nContent-Disposition: form-data; name=a\n\r\n",
       "400 a line of a part's head ends without CR"},
      {"--B\r\nContent-Disposition\r\n\r\n", "400 a line of a part's head without a colon"},
      {"--B\r\nContent-Disposition : form-data; name=a\r\n\r\n",
       "400 a part's header field has no valid name"},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n filename=b\r\n\r\n",
       "400 a line of a part's head without a colon"},
      {"--B\r\nX: a\x01z\r\n\r\n", "400 a control character in a part's header field"},
      {"--B\r\nContent-Disposition: attachment; name=a\r\n\r\n",
       "400 a part's Content-Disposition must be one form-data with a name"},
      {"--B\r\nContent-Disposition: form-data; filename=a\r\n\r\n",
       "400 a part's Content-Disposition must be one form-data with a name"},
      {"--B\r\nContent-Disposition: form-data; name=a\r\n"
       "Content-Disposition: form-data; name=b\r\n\r\n",
       "400 a part's Content-Disposition must be one form-data with a name"},
      {"--B\r\nContent-Disposition: form-data; name=a; filename=b; filename=c\r\n\r\n",
       "400 a part's Content-Disposition must be one form-data with a name"},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Type:\r\nContent-Type: "
       "a/b\r\n\r\n",
       "400 a part has two Content-Types"},
      {"--B\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\n",
       "400 a part is encoded (RFC 7578 section 4.7)"},
  };
  return all;
}

TEST(multipart_parser, whole) {
  for (const auto& [body, read] : body_cases())
    EXPECT_EQ(told_of("B", body, body.size() + 1), read) << body;
}

TEST(multipart_parser, in_pieces_of_every_size) {
  for (const auto& [body, read] : body_cases())
    for (std::size_t piece = 1; piece <= body.size(); ++piece)
      ASSERT_EQ(told_of("B", body, piece), read) << piece << " bytes at a time of\n" << body;
}

TEST(multipart_parser, keeps_to_its_limits) {
  std::string body;
  for (int i = 0; i < 3; ++i) body += "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n";
  body += "--B--";
  for (const std::size_t piece : {std::size_t{1}, body.size()}) {
    EXPECT_EQ(told_of("B", body, piece, {.parts = 3}).back(), '.');
    EXPECT_EQ(told_of("B", body, piece, {.parts = 2}),
              "<a|-|text/plain>1$<a|-|text/plain>1$413 too many parts");
    EXPECT_EQ(told_of("B", body, piece, {.header_bytes = 42}).back(), '.');
    EXPECT_EQ(told_of("B", body, piece, {.header_bytes = 41}),
              "431 too many header fields in a part");
    const std::string preamble = std::string(100, 'x') + "\r\n--B--";
    EXPECT_EQ(told_of("B", preamble, piece, {.header_bytes = 100}), ".");
    EXPECT_EQ(told_of("B", preamble, piece, {.header_bytes = 99}), "431 the preamble is too long");
    const std::string padding = "--B" + std::string(100, ' ') + "\r\n";
    EXPECT_EQ(told_of("B", padding, piece, {.header_bytes = 100}), "");
    EXPECT_EQ(told_of("B", padding, piece, {.header_bytes = 99}),
              "431 too much padding behind a boundary");
  }
}

TEST(multipart_parser, gives_long_content_in_place) {
  multipart_parser form{"B", {}};
  const std::string body = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n" +
                           std::string(1000, '\r') + "\r\n--B--";
  std::string_view input = body;
  ASSERT_EQ(form.next(input), multipart_event::part);
  std::size_t events = 0;
  std::size_t bytes = 0;
  while (form.next(input) == multipart_event::data) {
    ++events;
    bytes += form.data().size();
  }
  EXPECT_EQ(bytes, 1000u);
  EXPECT_EQ(events, 1u);
  EXPECT_EQ(form.next(input), multipart_event::finished);
  EXPECT_EQ(form.next(input), multipart_event::need_more);
}

TEST(multipart_parser, a_fault_names_its_place) {
  multipart_parser form{"B", {}};
  std::string_view input = "--B\r\nX: a\x01\r\n\r\n";
  ASSERT_EQ(form.next(input), multipart_event::failed);
  EXPECT_EQ(form.fault().offset_bytes, 14u);
  input = "more";
  EXPECT_EQ(form.next(input), multipart_event::failed);
}

TEST(form_data_boundary, is_taken_from_the_content_type) {
  std::array<char, 256> room;
  EXPECT_EQ(form_data_boundary("multipart/form-data; boundary=abc", room), "abc");
  EXPECT_EQ(form_data_boundary("Multipart/Form-Data;charset=x; Boundary=\"a b\"", room), "a b");
  EXPECT_EQ(form_data_boundary("multipart/mixed; boundary=abc", room).error(), errc::unsupported);
  EXPECT_EQ(form_data_boundary("application/json", room).error(), errc::unsupported);
  EXPECT_EQ(form_data_boundary("multipart/form-data; boundary = abc", room), "abc");
  EXPECT_EQ(form_data_boundary("multipart/form-data; boundary\t=\"a b\"", room), "a b");
  EXPECT_EQ(form_data_boundary("multipart/form-data; charset=; boundary=abc", room), "abc");
  const std::string longest(70, 'x');
  EXPECT_EQ(form_data_boundary("multipart/form-data; boundary=" + longest, room), longest);
  const std::string too_long = "multipart/form-data; boundary=x" + longest;
  for (std::string_view bad :
       {std::string_view{"multipart/form-data"}, std::string_view{"multipart/form-data; boundary="},
        std::string_view{R"(multipart/form-data; boundary="")"},
        std::string_view{R"(multipart/form-data; boundary="a ")"},
        std::string_view{R"(multipart/form-data; boundary="a@b")"},
        std::string_view{"multipart/form-data; boundary=a; boundary=b"},
        std::string_view{too_long}})
    EXPECT_EQ(form_data_boundary(bad, room).error(), errc::invalid_argument) << bad;
}

}  // namespace
}  // namespace weft::http
