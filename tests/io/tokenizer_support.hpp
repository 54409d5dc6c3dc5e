#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/tokenizer.hpp"

namespace causeway::test {

/// Those under golden/tokenizers, made by tools/golden_tokenizers.py.
inline constexpr std::array golden_names{"gpt2", "qwen", "minimind", "llama3", "other", "steps", "characters"};

inline std::string golden_path(const std::string& name) {
    return std::string(CAUSEWAY_TESTS_DIR) + "/golden/tokenizers/" + name + ".json";
}

inline std::shared_ptr<const Tokenizer> golden(const std::string& name) {
    static std::map<std::string, std::shared_ptr<const Tokenizer>> opened;
    auto& tokenizer = opened[name];
    if (tokenizer == nullptr) tokenizer = open_tokenizer(golden_path(name));
    return tokenizer;
}

inline std::vector<std::int32_t> encoded(const Tokenizer& tokenizer, std::string_view text) {
    std::vector<std::int32_t> ids;
    tokenizer.encode(text, ids);
    return ids;
}

/// Random texts that pick at what tokenizers stumble over.
class Bytes {
  public:
    explicit Bytes(std::uint32_t seed) : random_(seed) {}

    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

    /// Up to `most` pieces; with broken UTF-8 among them unless `valid`.
    std::string text(std::uint32_t most, bool valid = false) {
        static const std::vector<std::string> pieces{" ",
                                                     " ",
                                                     "\n",
                                                     "\r",
                                                     "\t",
                                                     "  ",
                                                     "\n\n",
                                                     "\r\n",
                                                     "a",
                                                     "s",
                                                     "t",
                                                     "the",
                                                     "LL",
                                                     "ve",
                                                     "Re",
                                                     "'",
                                                     "'s",
                                                     "'LL",
                                                     "'\u017f",
                                                     "0",
                                                     "12",
                                                     "345",
                                                     ".",
                                                     ",",
                                                     "!",
                                                     "-",
                                                     "==",
                                                     "_",
                                                     "<|",
                                                     "|>",
                                                     "<|endoftext|>",
                                                     "<|im_end|>",
                                                     "<mask>",
                                                     "word",
                                                     "\u00e9",
                                                     "e\u0301",
                                                     "\u0308",
                                                     "\u4e2d\u6587",
                                                     "\u3002",
                                                     "\u3000",
                                                     "\u00a0",
                                                     "\u2028",
                                                     "\u0085",
                                                     "\u200d",
                                                     "\U0001F600",
                                                     "\u0660",
                                                     "\u2167",
                                                     "\u00bd",
                                                     "\u212a",
                                                     "\u180e",
                                                     "\x1b",
                                                     "\x7f"};
        std::string result;
        for (std::uint32_t left = below(most + 1); left > 0; --left) {
            if (!valid && below(12) == 0) {
                result += static_cast<char>(0x80 + below(0x80));
            } else {
                result += pieces[below(static_cast<std::uint32_t>(pieces.size()))];
            }
        }
        return result;
    }

  private:
    std::mt19937 random_;
};

}  // namespace causeway::test
