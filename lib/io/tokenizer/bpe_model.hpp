#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/tokenizer/pair_map.hpp"

namespace causeway {

/// Lets maps of strings be asked with views.
struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
/// Token texts, as the file writes them, and their ids.
using Vocabulary = std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>>;

struct BpeOptions {
    bool byte_level = true;           ///< words are bytes, which the vocabulary writes as byte_level characters
    bool ignore_merges = false;       ///< a word that is a token is that token, whatever the merges say
    bool byte_fallback = false;       ///< a character without token becomes its bytes, written <0x0A>
    bool fuse_unk = false;            ///< of several unknown characters in a row one remains
    std::optional<std::int32_t> unk;  ///< for what has no token; without it such characters vanish
};

/// One merge of a list ordered by rank, and the token it makes.
struct BpeMerge {
    std::int32_t left, right, result;
};

/// Byte-pair encoding of single words: of the adjacent pairs that may be merged, the one of the lowest rank, leftmost
/// first, is, until none is left. Thread-safe.
class BpeModel {
  public:
    /// What one thread works with.
    struct Scratch {
        std::vector<std::int32_t> ids;
        std::vector<std::uint64_t> merges;
        std::vector<std::uint32_t> previous, next;
        std::vector<std::pair<std::uint64_t, std::uint32_t>> heap;  ///< merge and place
    };

    /// Of two merges of the same pair the later one holds. `vocabulary` is copied where it is needed.
    BpeModel(Vocabulary vocabulary, const std::vector<BpeMerge>& merges, const BpeOptions& options);

    const Vocabulary& vocabulary() const { return vocabulary_; }

    bool knows_all_bytes() const { return all_bytes_; }

    /// Appends the ids of a word that is not empty. O(n log n) for n bytes.
    void encode(std::string_view word, Scratch& scratch, std::vector<std::int32_t>& ids) const;

  private:
    void first_symbols(std::string_view word, std::vector<std::int32_t>& ids) const;
    void merge_short(Scratch& scratch) const;
    void merge_long(Scratch& scratch) const;
    std::int32_t token_of(std::string_view character) const;
    std::optional<std::int32_t> whole_word(std::string_view word) const;

    Vocabulary vocabulary_;
    BpeOptions options_;
    PairMap pairs_;
    std::array<std::int32_t, 256> byte_ids_{};      ///< of a byte (byte_level) or an ASCII character; -1: none
    std::array<std::int32_t, 256> fallback_ids_{};  ///< of <0x00> to <0xFF>; all or those that are there
    bool all_bytes_ = false;                        ///< every byte has a token
};

}  // namespace causeway
