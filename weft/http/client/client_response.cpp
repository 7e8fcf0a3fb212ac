#include <weft/http/client/client_response.hpp>

namespace weft::http {

client_response::client_response(const response_head& head, std::string_view text)
    : content_{std::make_unique_for_overwrite<content>()} {
  content_->text = text.substr(0, head.size_bytes());
  content_->head = head;
  content_->head.rebase(content_->text.data());
}

}  // namespace weft::http
