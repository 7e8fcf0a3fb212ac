#include "report.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

struct percentile {
  std::string_view name;
  double percent;
};
constexpr std::array percentiles{percentile{"p50", 50},       percentile{"p90", 90},
                                 percentile{"p99", 99},       percentile{"p99.9", 99.9},
                                 percentile{"p99.99", 99.99}, percentile{"p99.999", 99.999}};

struct error_kind {
  std::string_view name;   // in JSON
  std::string_view words;  // in text
  std::uint64_t load_errors::* count;
};
constexpr std::array error_kinds{
    error_kind{"connect", "could not connect", &load_errors::connect},
    error_kind{"closed", "closed before the reply's end", &load_errors::closed},
    error_kind{"reset", "reset", &load_errors::reset},
    error_kind{"timed_out", "timed out", &load_errors::timed_out},
    error_kind{"malformed", "not the reply expected", &load_errors::malformed},
    error_kind{"unasked", "more than the reply came", &load_errors::unasked},
    error_kind{"unsent", "due but never sent", &load_errors::unsent},
};

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

double rate_of(const load_result& result) {
  return result.seconds > 0 ? static_cast<double>(result.counts.requests) / result.seconds : 0;
}

double cpu_seconds(const load_result& result) {
  return result.cpu_user_seconds + result.cpu_system_seconds;
}

double cpu_microseconds_per_request(const load_result& result) {
  const auto requests = static_cast<double>(result.counts.requests);
  return requests > 0 ? cpu_seconds(result) * 1e6 / requests : 0;
}

// 1234567 → 1,234,567
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string grouped(double number) {
  return grouped(static_cast<std::uint64_t>(std::llround(number)));
}

// With the unit that leaves one to three digits before the point.
std::string readable_time(double nanoseconds) {
  if (nanoseconds < 1e6) return weft::format("{:.1f} µs", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return weft::format("{:.2f} ms", nanoseconds / 1e6);
  return weft::format("{:.2f} s", nanoseconds / 1e9);
}

std::string readable_time(std::uint64_t nanoseconds) {
  return readable_time(static_cast<double>(nanoseconds));
}

std::string plural(std::uint64_t count, std::string_view thing) {
  return weft::format("{} {}{}", grouped(count), thing, count == 1 ? "" : "s");
}

std::string error_list(const load_errors& errors) {
  if (errors.total() == 0) return "none";
  std::string list;
  for (const error_kind& kind : error_kinds) {
    const std::uint64_t count = errors.*kind.count;
    if (count == 0) continue;
    if (!list.empty()) list += ", ";
    list += weft::format("{} {}", grouped(count), kind.words);
  }
  return list;
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<unsigned char>(letter) < ' ') {
      quoted += weft::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

std::string json_errors(const load_errors& errors) {
  std::string object = "{";
  for (const error_kind& kind : error_kinds) {
    object += weft::format("\"{}\":{},", kind.name, errors.*kind.count);
  }
  return object + weft::format("\"total\":{}}}", errors.total());
}

std::string json_latency(const telemetry::distribution& latency) {
  std::string object = "{";
  for (const percentile& each : percentiles) {
    object +=
        weft::format("\"{}\":{:.3f},", each.name, microseconds(latency.percentile(each.percent)));
  }
  return object + weft::format("\"max\":{:.3f},\"mean\":{:.3f}}}", microseconds(latency.max()),
                               latency.mean() / 1e3);
}

}  // namespace

std::string to_text(const load_options& options, const load_result& result) {
  const load_counts& counts = result.counts;
  std::string text =
      weft::format("{}   {}, {:.2f} s{}\n\n", options.to.to_string(),
                   plural(static_cast<std::uint64_t>(options.connections), "connection"),
                   result.seconds, result.interrupted ? " (interrupted)" : "");

  text += weft::format("  requests   {}, {} a second{}\n", grouped(counts.requests),
                       grouped(rate_of(result)),
                       options.rate > 0 ? weft::format(" of {} due", grouped(options.rate)) : "");
  text += weft::format(
      "  received   {:.2f} MB/s\n",
      result.seconds > 0 ? static_cast<double>(counts.bytes_received) / 1e6 / result.seconds : 0);
  text += "  latency  ";
  for (const percentile& each : percentiles) {
    text +=
        weft::format("  {} {}", each.name, readable_time(result.latency.percentile(each.percent)));
  }
  text += weft::format("  max {}  mean {}\n", readable_time(result.latency.max()),
                       readable_time(result.latency.mean()));
  text += weft::format("  generator  {:.2f} µs of CPU a request, {:.0f} % of a core\n",
                       cpu_microseconds_per_request(result),
                       result.seconds > 0 ? 100 * cpu_seconds(result) / result.seconds : 0);
  if (options.rate > 0) {
    text += weft::format("  sent late  p99 {}  max {}, by the generator\n",
                         readable_time(result.send_delay.percentile(99)),
                         readable_time(result.send_delay.max()));
  }
  if (counts.reconnects != 0) text += weft::format("  reconnects {}\n", grouped(counts.reconnects));
  if (counts.not_2xx() != 0) {
    text += weft::format("  not 2xx    {} 3xx, {} 4xx, {} 5xx\n", grouped(counts.status_3xx),
                         grouped(counts.status_4xx), grouped(counts.status_5xx));
  }
  text += weft::format("  errors     {}", error_list(counts.errors));
  if (result.first_error != 0) {
    text += weft::format(" (the first: {})", std::strerror(result.first_error));
  }
  text += '\n';
  if (result.errors_in_warm_up.total() != 0) {
    text += weft::format("  in warm-up {}\n", error_list(result.errors_in_warm_up));
  }
  return text;
}

std::string to_json(const load_options& options, const load_result& result) {
  const load_counts& counts = result.counts;
  return weft::format(
             R"({{"target":{},"connections":{},"rate":{},"measured_from":{:.6f},"seconds":{:.6f},)"
             R"("interrupted":{},"requests":{},)"
             R"("requests_with_warm_up":{},"requests_per_second":{:.1f},"bytes_received":{},)",
             json_string(options.to.to_string()), options.connections, options.rate,
             result.measured_from, result.seconds, result.interrupted, counts.requests,
             result.requests_with_warm_up, rate_of(result), counts.bytes_received) +
         weft::format(R"("latency_us":{},"send_delay_us":{},)"
                      R"("status":{{"3xx":{},"4xx":{},"5xx":{}}},"reconnects":{},)",
                      json_latency(result.latency), json_latency(result.send_delay),
                      counts.status_3xx, counts.status_4xx, counts.status_5xx, counts.reconnects) +
         weft::format(R"("errors":{},"errors_in_warm_up":{},"cpu_user_seconds":{:.6f},)"
                      R"("cpu_system_seconds":{:.6f},"cpu_us_per_request":{:.4f}}})",
                      json_errors(counts.errors), json_errors(result.errors_in_warm_up),
                      result.cpu_user_seconds, result.cpu_system_seconds,
                      cpu_microseconds_per_request(result)) +
         "\n";
}

std::string progress_line(double seconds, bool warming_up, const load_counts& so_far,
                          const telemetry::distribution& latency) {
  const double rate = seconds > 0 ? static_cast<double>(so_far.requests) / seconds : 0;
  const std::uint64_t errors = so_far.errors.total() + so_far.not_2xx();
  return weft::format("{:>4.0f} s{}   {} req/s   p99 {}   {}", seconds,
                      warming_up ? " (warm-up)" : "", grouped(rate),
                      readable_time(latency.percentile(99)),
                      errors == 0 ? "no errors" : plural(errors, "error"));
}

std::string to_text(const rate_probe& probe) {
  const load_result& result = probe.result;
  const load_errors& errors = result.counts.errors;
  std::string verdict = probe.is_kept ? "kept" : "too slow";
  if (errors.total() != 0) verdict = error_list(errors);
  if (result.counts.not_2xx() != 0) verdict = plural(result.counts.not_2xx(), "reply not 2xx");
  return weft::format("  {:>12} {:>12} {:>12} {:>12}   {}\n", grouped(probe.rate),
                      grouped(rate_of(result)), readable_time(result.latency.percentile(50)),
                      readable_time(result.latency.percentile(99)), verdict);
}

std::string heading_of_search(const load_options& options) {
  return weft::format("{}   {}, p99 at most {}\n\n  {:>12} {:>12} {:>12} {:>12}\n",
                      options.to.to_string(),
                      plural(static_cast<std::uint64_t>(options.connections), "connection"),
                      readable_time(static_cast<double>(options.p99_most.count())), "due a second",
                      "served", "p50", "p99");
}

std::string to_text(const rate_search_result& found) {
  if (found.interrupted) return "\n  interrupted\n";
  if (found.most == 0) return "\n  no rate was kept\n";
  return weft::format("\n  {} a second\n", grouped(found.most));
}

std::string to_json(const load_options& options, const rate_search_result& found) {
  std::string probes;
  for (const rate_probe& each : found.probes) {
    probes += weft::format(
        R"({}{{"rate":{:.1f},"requests_per_second":{:.1f},"kept":{},"latency_us":{},"errors":{}}})",
        probes.empty() ? "" : ",", each.rate, rate_of(each.result), each.is_kept,
        json_latency(each.result.latency), json_errors(each.result.counts.errors));
  }
  return weft::format(R"({{"target":{},"connections":{},"p99_us_most":{:.3f},"max_rate":{:.1f},)"
                      R"("interrupted":{},"probes":[{}]}})"
                      "\n",
                      json_string(options.to.to_string()), options.connections,
                      static_cast<double>(options.p99_most.count()) / 1e3, found.most,
                      found.interrupted, probes);
}

int exit_status(const rate_search_result& found) {
  if (found.served == 0) return 3;
  return found.most > 0 && !found.interrupted ? 0 : 1;
}

int exit_status(const load_result& result) {
  if (result.requests_with_warm_up == 0) return 3;
  const bool clean = result.counts.errors.total() == 0 && result.counts.not_2xx() == 0 &&
                     result.errors_in_warm_up.total() == 0;
  return clean ? 0 : 1;
}

}  // namespace weft::bench
