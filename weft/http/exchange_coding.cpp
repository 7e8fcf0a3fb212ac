// How a reply is coded on its way out, and the body of a request decoded, around what answers it.
#include <algorithm>
#include <span>
#include <utility>

#include <weft/http/active_request.hpp>
#include <weft/http/body_decoding.hpp>
#include <weft/http/coded_texts.hpp>
#include <weft/http/compress.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/content_encoder.hpp>
#include <weft/http/decompress.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/negotiation.hpp>
#include <weft/http/reply_coding.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http {
namespace {

/// Longer replies are coded in pieces, between which others have their turn.
constexpr std::size_t coded_at_once_bytes = 16 * 1024;
/// As much is decoded, at a time, of a body that is wanted whole.
constexpr std::size_t decoded_at_once_bytes = 64 * 1024;

/// False: it would get no shorter, or there is no memory.
bool encode_whole(std::string_view text, content_coding as, effort wanted, std::string& out) {
  auto encoder = content_encoder::make(as, wanted);
  if (!encoder) return false;
  out.resize(text.size());
  const coding_progress made = encoder->encode(text, out, feed::end);
  out.resize(made.written_bytes);
  return made.status == coding_status::finished;
}

enum class decoding_end : std::uint8_t { more, whole, failed };

/// Some more of what `coded` means.
decoding_end decode_some(body_decoding& by, std::string_view& coded, std::string& plain) {
  for (const std::size_t until = plain.size() + decoded_at_once_bytes; plain.size() < until;) {
    const std::string_view piece = by.next(coded);
    if (by.has_failed()) return decoding_end::failed;
    if (piece.empty()) return by.is_finished() ? decoding_end::whole : decoding_end::failed;
    plain.append(piece);
  }
  return decoding_end::more;
}

}  // namespace

coded_texts& exchange::coded() {
  if (!of_.coded) of_.coded = std::make_unique<coded_texts>();
  of_.note();
  return *of_.coded;
}

void exchange::run_coded(compress_rules& rules, handler& next) {
  coded_texts& texts = coded();
  if (texts.rules != nullptr) return next(*this);  // within another one
  texts.rules = &rules;
  texts.wanted = choose_coding(request_.header("accept-encoding"), rules.options.codings);
  of_.codes_reply = true;
  run_now(next);
  if (work)
    work.emplace(finish_coded(take_work()));
  else if (texts.deferred)
    work.emplace(give_deferred());
  else
    end_coding();
}

task<void> exchange::finish_coded(task<void> late) {
  co_await finish(std::move(late));
  if (of_.coded->deferred)
    co_await give_deferred();
  else
    end_coding();
}

/// Nothing of the middleware is used from now on.
void exchange::end_coding() noexcept {
  of_.codes_reply = false;
  if (of_.writer) of_.writer->release_encoder();
}

/// In pieces, as if a handler had given it so.
task<void> exchange::give_deferred() {
  response head = std::move(*of_.coded->deferred);
  of_.coded->deferred.reset();
  const std::string body = head.take_body();
  const memory_reservation held =
      request_.client_.host_.loop.memory().hold(memory_kind::output, body.capacity());
  replied_ = {};
  of_.codes_reply = true;
  body_writer& out = writer();
  out.start(std::move(head), body.size());
  const auto written = co_await out.write(std::string_view{body});
  if (written) out.end();
  end_coding();
}

/// Whether the reply is to be coded; says what that depends on. Only once.
bool exchange::decides_to_code(const reply_facts& facts) {
  of_.codes_reply = false;
  const coded_texts& texts = *of_.coded;
  if (!may_be_coded(facts, texts.rules->options.least_bytes)) return false;
  if (lacks_vary(facts)) std::ignore = add_field("Vary", "Accept-Encoding");
  return texts.wanted != content_coding::identity;
}

std::string_view exchange::added_so_far() const noexcept {
  return of_.fields ? std::string_view{*of_.fields} : std::string_view{};
}

void exchange::send_coded(status code, std::string_view content_type, std::string_view body,
                          std::string_view fields, const body_memory* memory) {
  const bool codes = decides_to_code({.code = code,
                                      .content_type = content_type,
                                      .fields = fields,
                                      .added = added_so_far(),
                                      .length_bytes = body.size()});
  coded_texts& texts = *of_.coded;
  if (!codes) return send(code, content_type, body, fields, memory);
  if (code == status::not_modified) {
    append_coded_fields(texts.reply_fields, fields, content_coding::identity);
    return send(code, content_type, body, texts.reply_fields, memory);
  }
  if (body.size() > coded_at_once_bytes) {
    const bool is_ours = memory != nullptr && memory->owned != nullptr;
    texts.deferred = response::deferred(code, content_type, fields,
                                        is_ours ? std::move(*memory->owned) : std::string{body});
    replied_ = code;
    return;
  }
  if (!encode_whole(body, texts.wanted, texts.rules->options.effort, texts.reply_body))
    return send(code, content_type, body, fields, memory);
  append_coded_fields(texts.reply_fields, fields, texts.wanted);
  const body_memory coded_memory{.owned = &texts.reply_body};
  send(code, content_type, texts.reply_body, texts.reply_fields, &coded_memory);
}

/// The fields of a reply that is given piece by piece. One that is coded has no length.
std::string_view exchange::code_pieces(const response& head, std::optional<std::uint64_t>& length) {
  if (!decides_to_code({.code = head.code(),
                        .content_type = head.content_type(),
                        .fields = head.fields(),
                        .added = added_so_far(),
                        .length_bytes = length}))
    return head.fields();
  coded_texts& texts = *of_.coded;
  const bool is_tag_only = head.code() == status::not_modified;
  if (!is_tag_only && !of_.writer->code_by(*texts.rules, texts.wanted)) return head.fields();
  append_coded_fields(texts.reply_fields, head.fields(),
                      is_tag_only ? content_coding::identity : texts.wanted);
  if (!is_tag_only) length.reset();
  return texts.reply_fields;
}

void exchange::run_decoded(decompress_rules& rules, handler& next) {
  const route_match& match = of_.match;
  connection_host& host = request_.client_.host_;
  const bool is_empty = !of_.head.chunked() && of_.head.content_length().value_or(0) == 0;
  if (match.outcome != route_outcome::found || is_empty) return next(*this);
  const auto codings =
      read_body_codings(request_.headers(), rules.options.codings, rules.options.at_most);
  if (!codings) return refuse_codings(rules.options.codings);
  if (codings->count == 0) return next(*this);
  coded().slot = rules.slots.take(host.loop.memory(),
                                  decoder_bytes(*codings, host.bounds_of(match).body_bytes));
  if (!coded().slot)
    return reply_problem(status::service_unavailable,
                         "as many coded bodies are decoded as this server takes at a time",
                         "Retry-After: 1\r\n");
  auto decoding = body_decoding::make(
      *codings, {.bytes = host.bounds_of(match).body_bytes, .ratio = rules.options.ratio});
  if (!decoding) {
    coded().slot.reset();
    return reply(decoding.error());
  }
  if (host.routes.is_called_at_head(match, request_.headers())) {
    reader().decode_by(std::move(*decoding));
    run_then(next, [this] {
      if (of_.reader) of_.reader->stop_decoding();
      coded().slot.reset();
    });
    return;
  }
  decode_whole(std::move(*decoding), rules, next);
}

void exchange::refuse_codings(coding_set known) {
  std::string line = "Accept-Encoding: ";
  std::string_view between;
  for (const content_coding each :
       {content_coding::br, content_coding::zstd, content_coding::gzip, content_coding::deflate})
    if (known.contains(each)) line.append(std::exchange(between, ", ")).append(to_string(each));
  line.append("\r\n");
  reply_problem(status::unsupported_media_type,
                "the body's Content-Encoding is none that this server decodes, or too many", line);
}

/// As much as the body may become.
bool exchange::reserve_decoded(const decompress_rules& rules) {
  connection_host& host = request_.client_.host_;
  const std::uint64_t most =
      std::min<std::uint64_t>(host.bounds_of(of_.match).body_bytes,
                              std::uint64_t{rules.options.ratio} * request_.body_.size());
  coded().memory = host.loop.memory().try_reserve(memory_kind::bodies, most, memory_priority::low);
  if (!coded().memory) host.loop.memory().note_refused();
  return static_cast<bool>(coded().memory);
}

void exchange::decode_whole(body_decoding by, decompress_rules& rules, handler& next) {
  std::string_view coded_body = request_.body_;
  const decoding_end end = decode_some(by, coded_body, coded().request_body);
  if (end == decoding_end::more && !reserve_decoded(rules)) {
    coded().slot.reset();
    return reply_problem(status::service_unavailable, no_memory_reason, retry_after_field);
  }
  if (end == decoding_end::more) {
    work.emplace(decode_rest(std::move(by), coded_body, next));
    return;
  }
  coded().slot.reset();
  if (end == decoding_end::failed) return reply_undecodable(by);
  request_.body_ = of_.coded->request_body;
  next(*this);
}

task<void> exchange::decode_rest(body_decoding by, std::string_view coded_body, handler& next) {
  decoding_end end = decoding_end::more;
  while (end == decoding_end::more) {
    co_await yield{request_.client_.host_.loop};
    end = decode_some(by, coded_body, coded().request_body);
  }
  coded().slot.reset();
  if (end == decoding_end::failed) {
    reply_undecodable(by);
    co_return;
  }
  request_.body_ = of_.coded->request_body;
  co_await run(next);
}

void exchange::reply_undecodable(const body_decoding& by) {
  if (by.is_too_large())
    reply_problem(status::content_too_large, decoded_too_large);
  else
    reply_problem(status::bad_request, decoded_wrong);
}

}  // namespace weft::http
