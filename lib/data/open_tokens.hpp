#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "data/token_store.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// The files of one path as tokens.
struct OpenedTokens {
    std::shared_ptr<const TokenStore> store;
    std::string name;      ///< the path, and how many files that is when it is several
    bool encoded = false;  ///< into memory, rather than mapped
    double encoding_seconds = 0;
};

/// Opens what `path` (of field `field`) stands for as config.data says, file after file in sorted order. Bytes and
/// token files are mapped and read when a batch asks for them; what needs a tokenizer or has one document a line is
/// encoded now. `tokenizer` may be null for token files. Throws IoError or DataError for a file, ConfigError for a
/// field that does not fit the tokenizer.
OpenedTokens open_tokens(const Config& config, const std::string& path, const std::string& field,
                         const std::shared_ptr<const Tokenizer>& tokenizer);

}  // namespace causeway
