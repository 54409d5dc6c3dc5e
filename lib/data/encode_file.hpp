#pragma once

#include <memory>
#include <string>

#include "data/document_encoder.hpp"
#include "data/token_store.hpp"

namespace causeway {

/// What encoding needs beside the file.
struct EncodingSettings {
    std::shared_ptr<const Tokenizer> tokenizer;
    int threads = 1;
};

/// The narrowest type that holds the ids of a vocabulary of that size: uint8, uint16 or uint32.
TokenType narrowest_type(std::int64_t vocab_size);

/// Appends the documents of a file with one a line to the store, in order, encoded in memory by several threads; the
/// result does not depend on their number. Blank lines and documents without tokens are left out; a byte order mark and
/// CRLF are accepted. Throws IoError for the file, DataError "file:line: ..." for the first line that cannot be read.
void append_lines(const std::string& path, const DocumentEncoder& encoder, const EncodingSettings& settings,
                  TokenStore& store);

/// Appends a text file, encoded in memory by several threads; the result does not depend on their number. Throws
/// IoError, DataError when it is empty.
void append_text(const std::string& path, const EncodingSettings& settings, TokenStore& store);

/// Appends tokens that are not of a file.
void append_tokens(std::span<const std::int32_t> ids, const std::string& origin, TokenStore& store);

}  // namespace causeway
