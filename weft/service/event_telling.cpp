#include <weft/service/event_telling.hpp>

#include <exception>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/service/event_bus.hpp>

namespace weft {
namespace {

void log_failure(event_record& record, std::string_view why) noexcept {
  ++record.failures;
  try {
    log::error(weft::format("a handler of {} failed: {}", record.type.how().name, why));
  } catch (...) {
    log::error("a handler of an event failed, and there is no memory to say which");
  }
}

/// Of the exception that is being handled.
void log_exception(event_record& record) noexcept {
  try {
    throw;
  } catch (const std::exception& known) {
    log_failure(record, known.what());
  } catch (...) {
    log_failure(record, "with something that is no std::exception");
  }
}

void log_error(event_record& record, error why) noexcept {
  try {
    log_failure(record, why.message());
  } catch (...) {
    log_failure(record, to_string(why.code()));
  }
}

}  // namespace

/// Tells the event of `cell` to all who listen, and ends it, or hands it to their coroutines.
void event_bus::tell(std::byte* cell) noexcept {
  const std::uintptr_t header = event_ring::header_at(cell);
  event_record& record = record_in(header);
  std::byte* in_cell = cell + event_header_bytes;
  event_ticket* ticket = nullptr;
  if (has_ticket(header)) {
    ticket = &ticket_at(in_cell);
    in_cell += event_ticket_bytes;
  }
  const event_type& type = record.type;
  const void* event = type.event_at(in_cell);
  if (!allows(record, event)) {
    ++record.vetoed;
    type.how().destroy(in_cell);
    if (ticket != nullptr) ticket->answer(0U);
    return;
  }

  event_telling* telling = nullptr;
  unsigned handled = 0;
  bool is_heard = false;
  record.handlers.for_each<event_handler>([&](event_handler& handler) {
    is_heard = true;
    try {
      if (handler.coroutines_ == nullptr) {
        const result<void> outcome = handler.hear(event);
        if (outcome)
          ++handled;
        else
          log_error(record, outcome.error());
        return;
      }
      if (telling == nullptr) {
        telling = event_telling::take_over(record, in_cell, ticket);
        event = telling->event();
      }
      start(*telling, handler);
    } catch (...) {
      log_exception(record);
    }
  });
  record.heard += is_heard ? 1 : 0;
  if (telling != nullptr) {
    telling->handled += handled;
    part_ended(*telling);
    return;
  }
  all_told(record, event, handled, ticket);
  type.how().destroy(in_cell);
}

bool event_bus::allows(event_record& record, const void* event) noexcept {
  bool allowed = true;
  const event_view seen{record.type, event};
  const auto ask = [&](event_before& gate) {
    if (!allowed) return;
    try {
      allowed = gate.allows(seen);
    } catch (...) {
      log_exception(record);
    }
  };
  if (listen_to_all_ != 0) before_each_.for_each<event_before>(ask);
  record.before.for_each<event_before>(ask);
  return allowed;
}

void event_bus::all_told(event_record& record, const void* event, unsigned handled,
                         event_ticket* ticket) noexcept {
  const event_view seen{record.type, event};
  const auto show = [&](event_after& witness) {
    try {
      witness.told(seen, handled);
    } catch (...) {
      log_exception(record);
    }
  };
  record.after.for_each<event_after>(show);
  if (listen_to_all_ != 0) after_each_.for_each<event_after>(show);
  if (ticket != nullptr) ticket->answer(handled);
}

/// Runs it up to its first wait: it may have ended when this returns.
void event_bus::start(event_telling& telling, event_handler& handler) {
  event_coroutines& own = *handler.coroutines_;
  task<void> part = handler.start({*this, handler, telling});
  ++telling.parts;
  ++own.running;
  ++running_;
  coroutines_.start_in(own.inherited, std::move(part));
}

void event_bus::handler_ended(event_handler& handler, event_telling& telling) noexcept {
  telling.record.handlers.coroutine_ended(handler);
  part_ended(telling);
  --running_;
  end_pause();
}

const void* event_part::event() const noexcept { return telling_.event(); }

void event_part::ended(result<void> outcome) noexcept {
  const event_coroutines& own = *handler_.coroutines_;
  const bool gave_way = !outcome && outcome.error() == errc::cancelled && own.stop.stop_requested();
  if (outcome)
    ++telling_.handled;
  else if (!gave_way)
    log_error(telling_.record, outcome.error());
  bus_.handler_ended(handler_, telling_);
}

void event_part::threw() noexcept {
  log_exception(telling_.record);
  bus_.handler_ended(handler_, telling_);
}

void event_bus::part_ended(event_telling& telling) noexcept {
  if (--telling.parts != 0) return;
  all_told(telling.record, telling.event(), telling.handled, telling.ticket);
  telling.end();
}

}  // namespace weft
