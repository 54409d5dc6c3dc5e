#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace causeway {

/// What one thread needs to match: PCRE2's match data and the stack of its compiled code. Serves any Regex.
class RegexScratch {
  public:
    RegexScratch();
    ~RegexScratch();
    RegexScratch(const RegexScratch&) = delete;
    RegexScratch& operator=(const RegexScratch&) = delete;

  private:
    friend class Regex;
    pcre2_real_match_data_8* data_ = nullptr;
    pcre2_real_match_context_8* context_ = nullptr;
    pcre2_real_jit_stack_8* stack_ = nullptr;
};

/// A pattern of a tokenizer.json, compiled to machine code by PCRE2. Patterns are in Oniguruma's syntax, as the
/// `tokenizers` package reads them: see translate_pattern. Thread-safe.
class Regex {
  public:
    struct Match {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    /// Throws DataError, saying what is wrong, for a pattern that cannot be compiled or would mean something else.
    explicit Regex(const std::string& pattern);
    /// Of a text that is to be found as it is.
    static Regex literal(std::string_view text);

    Regex(Regex&&) noexcept = default;
    Regex& operator=(Regex&&) noexcept = default;

    /// The leftmost match in valid UTF-8 `text` that begins at `from` or later. Throws DataError when the search takes
    /// more steps or stack than PCRE2 allows.
    std::optional<Match> find(std::string_view text, std::size_t from, RegexScratch& scratch) const;

    /// Calls visit(begin, end, matched) for what matches and what lies between, in order; empty matches too, but none
    /// right behind the last match. `quick(text, at)` may give the end of the match that begins at `at`, or 0 when it
    /// cannot tell.
    template <class Quick, class Visit>
    void split(std::string_view text, RegexScratch& scratch, Quick quick, Visit visit) const;

  private:
    struct Free {
        void operator()(pcre2_real_code_8* code) const;
    };
    explicit Regex(std::unique_ptr<pcre2_real_code_8, Free> code) : code_(std::move(code)) {}
    static std::unique_ptr<pcre2_real_code_8, Free> compile(const std::string& pattern, std::uint32_t options);

    std::unique_ptr<pcre2_real_code_8, Free> code_;
};

template <class Quick, class Visit>
void Regex::split(std::string_view text, RegexScratch& scratch, Quick quick, Visit visit) const {
    std::size_t done = 0, at = 0;
    bool matched_before = false;
    while (at <= text.size()) {
        Match match{at, at < text.size() ? quick(text, at) : 0};
        if (match.end == 0) {
            const std::optional<Match> found = find(text, at, scratch);
            if (!found) break;
            match = *found;
        }
        if (match.begin == match.end && matched_before && match.end == done) {
            // one character on: continuation bytes belong to the one before
            do ++at;
            while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
            continue;
        }
        if (done != match.begin) visit(done, match.begin, false);
        visit(match.begin, match.end, true);
        done = at = match.end;
        matched_before = true;
        if (at == text.size() && match.begin != match.end) break;
    }
    if (done != text.size()) visit(done, text.size(), false);
}

}  // namespace causeway
