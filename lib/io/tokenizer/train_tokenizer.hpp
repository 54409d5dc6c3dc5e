#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace causeway {

struct TrainTokenizerOptions {
    std::int64_t vocab_size = 0;              ///< with the 256 bytes and the special tokens
    std::vector<std::string> special_tokens;  ///< they get the first ids
    std::string pattern = "gpt2";             ///< how text is cut into words: gpt2, qwen, llama3 or a pattern
    bool nfc = false;                         ///< text is normalised first
    std::uint64_t min_frequency = 2;          ///< pairs that occur less often are not merged
    bool jsonl = false;                       ///< a JSON object a line is a document; otherwise a file is
    std::string field = "text";               ///< jsonl: its text
    int threads = 1;
};

struct TrainedTokenizer {
    std::string json;             ///< a tokenizer.json
    std::int64_t vocab_size = 0;  ///< less than asked for when the text has no more pairs
    std::uint64_t bytes = 0;      ///< read
    std::size_t words = 0;        ///< that differ
};

/// Learns a byte-level BPE tokenizer from files ("-": standard input). Deterministic: the same text gives the same
/// file, whatever the threads. Words are counted in memory; text is read in parts as by tokenize_files. `progress` is
/// called with the bytes read so far. Throws ConfigError for the options, IoError for a file, DataError for a line.
TrainedTokenizer train_tokenizer(const std::vector<std::string>& paths, const TrainTokenizerOptions& options,
                                 const std::function<void(std::uint64_t bytes)>& progress = nullptr);

}  // namespace causeway
