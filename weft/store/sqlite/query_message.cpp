#include <weft/store/sqlite/query_message.hpp>

#include <cstring>
#include <type_traits>
#include <utility>

#include <weft/store/sqlite/confinement.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::string_view greeting = "weft query 2\n";

template <class Number>
  requires std::is_arithmetic_v<Number>
void put(Number number, std::string& to) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put_text(std::string_view text, std::string& to) {
  put(static_cast<std::uint32_t>(text.size()), to);
  to += text;
}

void put_value(const value& content, std::string& to) {
  put(std::to_underlying(content.kind()), to);
  switch (content.kind()) {
    case value_kind::null: break;
    case value_kind::int64: put(content.as_integer(), to); break;
    case value_kind::uint64: put(content.as_natural(), to); break;
    case value_kind::float64: put(content.as_real(), to); break;
    case value_kind::text:
    case value_kind::bytes: put_text(content.as_text(), to); break;
  }
}

/// Reads from the front; once something is missing or wrong, all that follows is.
class wire {
 public:
  explicit wire(std::string_view body) noexcept : left_{body} {}

  /// All was there, and there is no more.
  [[nodiscard]] bool is_done() const noexcept { return is_right_ && left_.empty(); }
  [[nodiscard]] bool is_right() const noexcept { return is_right_; }
  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }

  template <class Number>
  Number number() noexcept {
    Number made{};
    const std::string_view bytes = take(sizeof made);
    if (is_right_) std::memcpy(&made, bytes.data(), sizeof made);
    return made;
  }
  bool flag() noexcept { return small(1) == 1; }
  std::string_view text() noexcept { return take(number<std::uint32_t>()); }
  template <class Enumeration>
  Enumeration one_of(Enumeration last) noexcept {
    return static_cast<Enumeration>(small(std::to_underlying(last)));
  }
  value content() noexcept {
    switch (one_of(value_kind::bytes)) {
      case value_kind::null: break;
      case value_kind::int64: return value::integer(number<std::int64_t>());
      case value_kind::uint64: return value::natural(number<std::uint64_t>());
      case value_kind::float64: return value::real(number<double>());
      case value_kind::text: return value::text(text());
      case value_kind::bytes: return value::bytes(text());
    }
    return {};
  }

 private:
  std::string_view take(std::size_t size) noexcept {
    is_right_ = is_right_ && size <= left_.size();
    if (!is_right_) return {};
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::uint8_t small(std::uint8_t last) noexcept {
    const auto made = number<std::uint8_t>();
    is_right_ = is_right_ && made <= last;
    return is_right_ ? made : std::uint8_t{0};
  }

  std::string_view left_;
  bool is_right_ = true;
};

void put_column(const column& of, std::string& to) {
  put_text(of.name, to);
  put(std::to_underlying(of.type), to);
  put(static_cast<std::uint8_t>(of.is_unsigned), to);
  put(static_cast<std::uint8_t>(of.makes_numbers), to);
  put(static_cast<std::uint8_t>(of.keeps_form), to);
  put(of.length, to);
  put(of.precision, to);
  put(of.scale, to);
  put(of.fraction_digits, to);
}

column read_column(wire& from) {
  column made{.name = std::string{from.text()}};
  made.type = from.one_of(column_type::any);
  made.is_unsigned = from.flag();
  made.makes_numbers = from.flag();
  made.keeps_form = from.flag();
  made.length = from.number<std::uint32_t>();
  made.precision = from.number<std::uint8_t>();
  made.scale = from.number<std::uint8_t>();
  made.fraction_digits = from.number<std::uint8_t>();
  return made;
}

void read_columns(wire& from, query_answer& into) {
  const auto count = from.number<std::uint32_t>();
  std::vector<column>& made = into.columns.emplace();
  for (std::uint32_t i = 0; i < count && from.is_right(); ++i) made.push_back(read_column(from));
}

}  // namespace

void write_greeting(const sandbox_support& has, std::string& to) {
  write_message(to, [&](std::string& body) {
    body += greeting;
    put(static_cast<std::uint8_t>(has.landlock), body);
    put(static_cast<std::uint8_t>(has.seccomp), body);
  });
}

std::optional<sandbox_support> read_greeting(std::string_view body) noexcept {
  if (!body.starts_with(greeting)) return std::nullopt;
  wire from{body.substr(greeting.size())};
  sandbox_support made{.landlock = from.number<std::uint8_t>()};
  made.seccomp = from.flag();
  return from.is_done() ? std::optional{made} : std::nullopt;
}

void write_query(const query_request& request, const query_allowance& allowed, std::string& to) {
  write_message(to, [&](std::string& body) {
    put(std::to_underlying(query_command::kind::begin), body);
    put(allowed.memory_bytes, body);
    put(allowed.cpu_seconds, body);
    put(static_cast<std::uint64_t>(request.rows_max), body);
    put_text(request.text, body);
    for (const query_parameter& each : request.parameters) {
      put_text(each.name, body);
      put_value(each.bound, body);
    }
  });
}

void write_command(query_command::kind what, std::string& to) {
  write_message(to, [what](std::string& body) { put(std::to_underlying(what), body); });
}

std::optional<query_command> read_command(std::string_view body) {
  wire from{body};
  query_command made{.what = from.one_of(query_command::kind::leave)};
  if (made.what == query_command::kind::begin) {
    made.allowed.memory_bytes = from.number<std::uint64_t>();
    made.allowed.cpu_seconds = from.number<std::uint32_t>();
    made.rows_max = from.number<std::uint64_t>();
    made.text = from.text();
    while (from.left() > 0 && from.is_right()) {
      const std::string_view name = from.text();
      made.parameters.push_back({.name = name, .bound = from.content()});
    }
  }
  return from.is_done() ? std::optional{std::move(made)} : std::nullopt;
}

void write_answer(query_answer::state is, const std::vector<column>* columns,
                  std::span<const std::span<const value>> rows, const failure& why,
                  std::string& to) {
  write_message(to, [&](std::string& body) {
    put(std::to_underlying(is), body);
    put(std::to_underlying(why.kind), body);
    put(std::to_underlying(why.of_query), body);
    put_text(why.message, body);
    if (columns != nullptr) {
      put(static_cast<std::uint32_t>(columns->size()), body);
      for (const column& each : *columns) put_column(each, body);
    }
    put(static_cast<std::uint32_t>(rows.size()), body);
    for (const std::span<const value> row : rows)
      for (const value& each : row) put_value(each, body);
  });
}

std::optional<query_answer> read_answer(std::string_view body, std::optional<std::size_t> columns) {
  wire from{body};
  query_answer made{.is = from.one_of(query_answer::state::has_failed)};
  made.why = from.one_of(failure_kind::other);
  made.of_query = from.one_of(query_fault::limit);
  made.message = from.text();
  // One that fails at once has no columns.
  if (!columns && made.is != query_answer::state::has_failed) read_columns(from, made);
  if (made.columns) columns = made.columns->size();
  const std::size_t count = from.number<std::uint32_t>();
  // Each value has a byte at least, so that no count asks for more memory than there are bytes.
  if (!from.is_right() || columns.value_or(0) > confinement::columns_max ||
      count * columns.value_or(0) > from.left() || (columns.value_or(0) == 0 && count != 0))
    return std::nullopt;
  made.rows = count;
  made.values.reserve(count * columns.value_or(0));
  for (std::size_t i = 0; i < count * columns.value_or(0); ++i)
    made.values.push_back(from.content());
  return from.is_done() ? std::optional{std::move(made)} : std::nullopt;
}

}  // namespace weft::store::sqlite
