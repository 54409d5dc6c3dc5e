#define PCRE2_CODE_UNIT_WIDTH 8
#include "io/tokenizer/regex.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <new>

#include "causeway/error.hpp"
#include "io/tokenizer/regex_syntax.hpp"

namespace causeway {
namespace {

constexpr std::size_t first_stack = 32 * 1024;
constexpr std::size_t largest_stack = std::size_t{16} << 20;
/// Steps of one search. A run of a million blanks takes about as many; a pattern with nested repeats is stopped here
/// after seconds instead of never.
constexpr std::uint32_t most_steps = 50'000'000;

std::string message_of(int error) {
    unsigned char text[256] = {};
    pcre2_get_error_message_8(error, text, sizeof text);
    return reinterpret_cast<const char*>(text);
}

struct FreeContext {
    void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free_8(context); }
};

}  // namespace

RegexScratch::RegexScratch()
    : data_(pcre2_match_data_create_8(1, nullptr)),
      context_(pcre2_match_context_create_8(nullptr)),
      stack_(pcre2_jit_stack_create_8(first_stack, largest_stack, nullptr)) {
    if (data_ == nullptr || context_ == nullptr) throw std::bad_alloc();
    pcre2_set_match_limit_8(context_, most_steps);
    // Without a stack of its own, as on builds that cannot compile, the machine's is used.
    if (stack_ != nullptr) pcre2_jit_stack_assign_8(context_, nullptr, stack_);
}

RegexScratch::~RegexScratch() {
    pcre2_match_data_free_8(data_);
    pcre2_match_context_free_8(context_);
    pcre2_jit_stack_free_8(stack_);
}

void Regex::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free_8(code); }

std::unique_ptr<pcre2_real_code_8, Regex::Free> Regex::compile(const std::string& pattern, std::uint32_t options) {
    const std::unique_ptr<pcre2_compile_context, FreeContext> context(pcre2_compile_context_create_8(nullptr));
    if (context == nullptr) throw std::bad_alloc();
    pcre2_set_newline_8(context.get(), PCRE2_NEWLINE_LF);
    int error = 0;
    PCRE2_SIZE offset = 0;
    std::unique_ptr<pcre2_real_code_8, Free> code(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()),
                                                                  pattern.size(), options | PCRE2_UTF, &error, &offset,
                                                                  context.get()));
    if (code == nullptr) {
        throw DataError(
            fmt::format("the pattern \"{}\" cannot be compiled: {} at byte {}", pattern, message_of(error), offset));
    }
    // Where machine code cannot be made, matching is only slower.
    static_cast<void>(pcre2_jit_compile_8(code.get(), PCRE2_JIT_COMPLETE));
    return code;
}

Regex::Regex(const std::string& pattern)
    // ^ and $ of Oniguruma's syntax are those of lines
    : code_(compile(translate_pattern(pattern), PCRE2_MULTILINE | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C)) {}

Regex Regex::literal(std::string_view text) { return Regex(compile(std::string(text), PCRE2_LITERAL)); }

std::optional<Regex::Match> Regex::find(std::string_view text, std::size_t from, RegexScratch& scratch) const {
    const int found = pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), from,
                                    PCRE2_NO_UTF_CHECK, scratch.data_, scratch.context_);
    if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (found < 0) {
        throw DataError(fmt::format("the tokenizer's pattern cannot be matched at byte {} of {}: {}", from, text.size(),
                                    message_of(found)));
    }
    const PCRE2_SIZE* const bounds = pcre2_get_ovector_pointer_8(scratch.data_);
    return Match{bounds[0], bounds[1]};
}

}  // namespace causeway
