#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/tokenizer/bpe_model.hpp"

namespace causeway {

/// How often each word occurs.
using WordCounts = std::unordered_map<std::string, std::uint64_t, StringHash, std::equal_to<>>;

struct LearnedMerges {
    std::vector<BpeMerge> merges;     ///< by rank
    std::vector<std::string> tokens;  ///< the bytes of the tokens that they make, in the order of their ids
};

/// The merges that byte-pair encoding learns from counted words of bytes: again and again the adjacent pair that
/// occurs most often becomes a token, of several the one with the lowest ids. Depends on the counts alone.
///
/// `byte_ids` has the ids of the 256 bytes; new tokens get first_id and up. Bytes that are a token
/// already, of `taken` or by another pair, do not become a second one. Ends after `most_tokens`, or when no pair occurs
/// `min_frequency` times. O(n log n) for n symbols of all words that differ.
LearnedMerges learn_merges(const WordCounts& words, const std::vector<std::int32_t>& byte_ids, const Vocabulary& taken,
                           std::int32_t first_id, std::size_t most_tokens, std::uint64_t min_frequency);

}  // namespace causeway
