#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace causeway {

/// The ids of words met before: a table of fixed size in which a new word takes the place of an old one. Text repeats
/// its words, and looking one up costs a tenth of merging it anew. For one thread.
class WordCache {
  public:
    static constexpr std::size_t longest_word = 31;
    static constexpr std::size_t most_ids = 7;

    WordCache() : slots_(slot_count) {}

    /// Appends the ids of a word that is there; false when it is not. Words are 1 to longest_word bytes.
    bool append(std::string_view word, std::vector<std::int32_t>& ids) const {
        const Slot& slot = slots_[place_of(word)];
        if (slot.length != word.size() || std::memcmp(slot.word, word.data(), word.size()) != 0) return false;
        ids.insert(ids.end(), slot.ids, slot.ids + slot.count);
        return true;
    }

    /// Keeps a word of at most most_ids ids; others are passed over.
    void keep(std::string_view word, const std::int32_t* ids, std::size_t count) {
        if (count > most_ids) return;
        Slot& slot = slots_[place_of(word)];
        slot.length = static_cast<std::uint8_t>(word.size());
        slot.count = static_cast<std::uint8_t>(count);
        std::memcpy(slot.word, word.data(), word.size());
        std::copy(ids, ids + count, slot.ids);
    }

  private:
    static constexpr std::size_t slot_bits = 15;  ///< 2 MiB in all: more would not stay in a core's own cache
    static constexpr std::size_t slot_count = std::size_t{1} << slot_bits;

    struct alignas(64) Slot {
        std::int32_t ids[most_ids] = {};
        std::uint8_t length = 0;  ///< 0: free
        std::uint8_t count = 0;
        char word[longest_word] = {};
    };
    static_assert(sizeof(Slot) == 64);

    static std::uint64_t load(const char* bytes, std::size_t count) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes, count);
        return value;
    }

    static std::size_t place_of(std::string_view word) {
        constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
        std::uint64_t hash = word.size();
        const char* at = word.data();
        std::size_t left = word.size();
        for (; left > 8; left -= 8, at += 8) hash = (hash ^ load(at, 8)) * odd ^ (hash >> 29);
        hash = (hash ^ load(at, left)) * odd;
        return (hash ^ (hash >> 32)) * odd >> (64 - slot_bits);
    }

    std::vector<Slot> slots_;
};

}  // namespace causeway
