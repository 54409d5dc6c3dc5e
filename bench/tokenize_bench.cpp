#include <memory>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "families.hpp"
#include "io/tokenizer/tokenizer.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

/// A tokenizer of the bytes and the merges of some common words, which is enough to do all the work of a large one.
std::string tokenizer_json(const char* pre_tokenizer) {
    std::string vocab;
    int id = 0;
    const auto add = [&](const std::string& token) {
        vocab += fmt::format("{}\"{}\":{}", id == 0 ? "" : ",", token, id);
        ++id;
    };
    for (char c = 'a'; c <= 'z'; ++c) add(std::string(1, c));
    for (const char* token : {"\u0120", "\u010A", ",", ".", "th", "the", "\u0120the", "in", "an", "and", "er", "re"})
        add(token);
    return fmt::format(
        R"({{"pre_tokenizer":{},"model":{{"type":"BPE","vocab":{{{}}},"merges":["t h","th e","{} the","i n","a n","an d","e r","r e"]}}}})",
        pre_tokenizer, vocab, "\u0120");
}

/// English in its lengths and repeats: words of one to ten letters, the short ones often.
std::string make_text(std::size_t bytes) {
    std::string text;
    std::uint64_t state = 1;
    const auto below = [&](std::uint64_t bound) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % bound;
    };
    std::vector<std::string> words;
    for (int i = 0; i < 4000; ++i) {
        std::string word;
        for (std::uint64_t left = 1 + below(5) + below(6); left > 0; --left) word += static_cast<char>('a' + below(26));
        words.push_back(word);
    }
    while (text.size() < bytes) {
        const std::uint64_t common = 1 + below(words.size());
        text += words[below(common)] + (below(12) == 0 ? ",\n" : " ");
    }
    return text;
}

}  // namespace

/// Encoding text on one thread, by GPT-2's pattern matched by hand and by one that PCRE2 matches.
void register_tokenize() {
    struct Kind {
        const char* name;
        const char* pre_tokenizer;
    };
    constexpr const char* pcre2 =
        R"({"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated","pattern":{"Regex":" ?\\p{L}+| ?[^\\s\\p{L}]+|\\s+"}},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
    for (const auto& [name, pre_tokenizer] :
         {Kind{"gpt2", R"({"type":"ByteLevel","add_prefix_space":false})"}, {"pcre2", pcre2}}) {
        constexpr std::size_t bytes = 1 << 20;
        add_case(fmt::format("tokenize/{}/1M", name), {.bytes = static_cast<double>(bytes)},
                 [json = tokenizer_json(pre_tokenizer)] {
                     const auto tokenizer = parse_tokenizer(json, "bench");
                     const auto text = std::make_shared<const std::string>(make_text(bytes));
                     auto ids = std::make_shared<std::vector<std::int32_t>>();
                     return [tokenizer, text, ids] {
                         ids->clear();
                         tokenizer->encode(*text, *ids);
                     };
                 });
    }
}

}  // namespace causeway::bench
