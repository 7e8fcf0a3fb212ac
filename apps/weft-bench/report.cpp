#include "report.hpp"

#include <cstdint>
#include <string_view>

#include "readable.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

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
  if (!result.first_error.empty()) {
    text += weft::format(" (the first: {})", result.first_error);
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
  return weft::format("  {:>12} {:>12} {:>12} {:>12}   {}\n", grouped(probe.rate),
                      grouped(rate_of(result)), readable_time(result.latency.percentile(50)),
                      readable_time(result.latency.percentile(99)),
                      verdict_of(probe.is_kept, result));
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
