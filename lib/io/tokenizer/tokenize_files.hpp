#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

struct TokenizeOptions {
    bool jsonl = false;                     ///< a JSON object a line is a document; otherwise a file is
    std::string field = "text";             ///< jsonl: its text
    std::optional<std::int32_t> start;      ///< put before each document
    std::optional<std::int32_t> separator;  ///< put after each document
    int threads = 1;
    std::size_t chunk_bytes = std::size_t{1} << 21;  ///< what a thread encodes at once
};

struct TokenizeCounts {
    std::uint64_t bytes = 0;  ///< read
    std::uint64_t documents = 0;
    std::uint64_t tokens = 0;
};

/// Encodes files ("-": standard input) and gives their ids to `write` in order, with about one chunk a thread in
/// memory. Ids depend neither on threads nor on chunk_bytes: text is cut at Tokenizer::safe_cut, and where there is no
/// such place a file is one chunk. `progress` is called after each chunk. Throws IoError for a file, DataError, with
/// file and line, for what a line holds, and what `write` and `progress` throw.
TokenizeCounts tokenize_files(const std::vector<std::string>& paths, const Tokenizer& tokenizer,
                              const TokenizeOptions& options,
                              const std::function<void(std::span<const std::int32_t>)>& write,
                              const std::function<void(const TokenizeCounts&)>& progress = nullptr);

}  // namespace causeway
