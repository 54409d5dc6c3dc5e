#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// A token that is looked for in the text itself, before any other work.
struct AddedToken {
    std::string content;
    std::int32_t id = 0;
    bool single_word = false;  ///< not where a letter or digit is beside it
    bool lstrip = false;       ///< takes the blanks before it
    bool rstrip = false;       ///< takes the blanks after it
    bool normalized = false;   ///< looked for in the normalised text
    bool special = false;      ///< decode may leave it out
};

/// A part of a text: a token, or what is none.
struct AddedSpan {
    std::string_view text;
    std::optional<std::int32_t> id;
};

/// Finds tokens in a text: the leftmost, and of those that begin there the longest. Thread-safe.
class AddedTokenFinder {
  public:
    /// What is looked for is `pattern`; of two tokens with the same the first counts. Patterns are not empty.
    void add(std::string pattern, const AddedToken& token);
    bool empty() const { return entries_.empty(); }

    /// The next part of `text` from `at` on; moves `at` behind it. Parts may be empty. O(length of the part).
    struct Position {
        std::size_t at = 0;              ///< up to here the text has been given out
        std::size_t scan = 0;            ///< where the search goes on
        std::optional<AddedSpan> token;  ///< found already, given out after the text before it
    };
    std::optional<AddedSpan> next(std::string_view text, Position& position) const;

  private:
    struct Entry {
        std::string pattern;
        AddedToken token;
    };
    const Entry* longest_at(std::string_view text) const;
    std::optional<AddedSpan> find(std::string_view text, Position& position, std::size_t& begin) const;

    std::vector<Entry> entries_;  ///< ordered by pattern
    std::array<bool, 256> starts_{};
    int only_start_ = -1;  ///< the byte that all patterns begin with
};

}  // namespace causeway
