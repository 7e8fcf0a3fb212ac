#include <apps/weftd/row_description.hpp>

#include <variant>

#include <apps/weftd/api_description.hpp>
#include <apps/weftd/api_reply.hpp>
#include <apps/weftd/api_request.hpp>

namespace weftd {

namespace http = weft::http;

namespace {

constexpr auto write_faults = {http::status::forbidden, http::status::conflict,
                               http::status::insufficient_storage};

}  // namespace

http::route_description describe_row_read(api_version spoken) {
  auto made = describe<pk_read_request, row_reply>(
      spoken, {.summary = "Reads a row by its primary key",
               .example = R"({"filters":[{"column":"id","value":17}],"operationId":"x"})",
               .success = "The row"});
  // That there is no such row is told as the row is.
  if (spoken == api_version::v0_1_0)
    made.replies.push_back(
        {.code = http::status::not_found, .content = &weft::json::shape_of<row_reply>});
  else
    for (http::described_reply& each : made.replies)
      if (each.code == http::status::not_found)
        each.content = &weft::json::shape_of<std::variant<row_reply, fault_document>>;
  return made;
}

http::route_description describe_scan(api_version spoken) {
  return describe<scan_request, rows_reply>(
      spoken,
      {.summary = "Finds rows by what they hold",
       .example = R"({"limit":3,"readColumns":[{"column":"id"}],"filters":{"op":"CMP","colu)"
                  R"(mn":"id","cond":"GT","value":17}})",
       .success = "The rows, in the order of the index"});
}

http::route_description describe_reads(api_version spoken) {
  return describe<batch_read_request, batch_reply>(
      spoken,
      {.summary = "Reads many rows, of any databases and tables",
       .example = R"({"operations":[{"method":"POST","relative-url":"demo/users/pk-read","b)"
                  R"(ody":{"filters":[{"column":"id","value":1}]}},{"method":"POST","relati)"
                  R"(ve-url":"demo/users/pk-read","body":{"filters":[{"column":"id","value")"
                  R"(:0}]}}]})",
       .success = "What each operation found",
       .faults = {http::status::content_too_large}});
}

http::route_description describe_writes(api_version spoken) {
  return describe<batch_write_request, batch_reply>(
      spoken,
      {.summary = "Writes rows: of each database all of the batch, or nothing",
       .description = "`relative-url` ends with `pk-write` (updates the row, or inserts it), "
                      "`pk-update` or `pk-insert`.",
       .example = R"({"operations":[{"method":"POST","relative-url":"demo/users/pk-update",)"
                  R"("body":{"filters":[{"column":"id","value":17}],"writeColumns":[{"colum)"
                  R"(n":"name","value":"Tim B."}]}}]})",
       .success = "What has become of each operation; what is done is durable",
       .faults = write_faults});
}

http::route_description describe_deletes(api_version spoken) {
  return describe<batch_write_request, batch_reply>(
      spoken,
      {.summary = "Deletes rows: of each database all of the batch, or nothing",
       .description = "`relative-url` ends with `pk-delete`.",
       .example = R"({"operations":[{"method":"DELETE","relative-url":"demo/users/pk-delete)"
                  R"(","body":{"filters":[{"column":"id","value":18}]}}]})",
       .success = "What has become of each operation; what is done is durable",
       .faults = write_faults});
}

}  // namespace weftd
