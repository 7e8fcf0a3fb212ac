// Operations that the kernel is given one by one, as entries of the ring.
//
// Contract: the operation stays where it is until its answer, which carries it as tag::send
// or else as tag::listed.
//
//   submit(ring, send);
#pragma once

#include <weft/loop/file_operation.hpp>
#include <weft/loop/operation.hpp>
#include <weft/loop/uring/ring.hpp>

namespace weft {

void submit(ring& to, send_operation& op) noexcept;
void submit(ring& to, connect_operation& op) noexcept;
void submit(ring& to, poll_operation& op) noexcept;
void submit(ring& to, file_operation& op) noexcept;
/// Asks when there is room to send.
void submit(ring& to, send_datagrams_operation& op) noexcept;

}  // namespace weft
