#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// A document as tokens, and for each whether predicting it is learned (1) or not (0). `loss` is empty where all are.
struct EncodedDocument {
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> loss;

    void clear() {
        ids.clear();
        loss.clear();
    }
};

/// Turns a line of a file into the tokens of a document. Used by many threads at once.
class DocumentEncoder {
  public:
    virtual ~DocumentEncoder() = default;
    /// Appends to `document`, which is empty. Throws DataError for a line it cannot read.
    virtual void encode(std::string_view line, EncodedDocument& document) const = 0;
};

/// {"text": ...}: document_start, the text, document_separator.
std::unique_ptr<DocumentEncoder> text_line_encoder(const DataConfig& data, std::shared_ptr<const Tokenizer> tokenizer);

/// {"conversations": ...}: the conversation in data.chat_format. Loss on what assistants say. Throws ConfigError when
/// the tokenizer of data.tokenizer lacks a mark of the format; without one the marks are bytes like all else.
std::unique_ptr<DocumentEncoder> chat_line_encoder(const DataConfig& data, std::shared_ptr<const Tokenizer> tokenizer);

/// The tokens of document_start or document_separator, which `field` names: the token of that text, or where there are
/// only bytes its bytes. Throws ConfigError when the tokenizer has no such token.
std::vector<std::int32_t> marker_tokens(const std::string& text, const char* field, bool bytes,
                                        const Tokenizer& tokenizer);

}  // namespace causeway
