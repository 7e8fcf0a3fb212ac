// A connection on its way from one loop to another: it belongs to neither.
//
// Contract: made by backend::loosen() and used up by backend::adopt() of another loop of the same
// program, on any thread. Closed if nobody adopts it.
//
//   std::unique_ptr<loose_socket> loose = here.loosen(accepted);
//   result<descriptor*> served = there.adopt(std::move(loose));  // on the other thread
#pragma once

namespace weft {

class loose_socket {
 public:
  loose_socket() = default;
  loose_socket(const loose_socket&) = delete;
  loose_socket& operator=(const loose_socket&) = delete;
  virtual ~loose_socket() = default;
};

}  // namespace weft
