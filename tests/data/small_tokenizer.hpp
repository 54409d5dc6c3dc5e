#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "causeway/error.hpp"
#include "io/tokenizer/tokenizer.hpp"

/// Bytes, and from 256 on these strings, the longest that fits; those in <| |> are special.
class SmallTokenizer final : public causeway::Tokenizer {
  public:
    explicit SmallTokenizer(std::vector<std::string> strings = {"<|im_start|>", "<|im_end|>", "\n\n", "assistant\n",
                                                                "<|begin_of_text|>", "<|start_header_id|>",
                                                                "<|end_header_id|>", "<|eot_id|>", "<|endoftext|>"},
                            std::int64_t vocab_size = 0)
        : strings_(std::move(strings)), vocab_size_(vocab_size) {}

    std::int64_t vocab_size() const override {
        return vocab_size_ > 0 ? vocab_size_ : 256 + static_cast<std::int64_t>(strings_.size());
    }

    void encode(std::string_view text, std::vector<std::int32_t>& ids) const override {
        while (!text.empty()) {
            std::int32_t best = static_cast<unsigned char>(text[0]);
            std::size_t length = 1;
            for (std::size_t i = 0; i < strings_.size(); ++i) {
                if (strings_[i].size() <= length || !text.starts_with(strings_[i])) continue;
                best = 256 + static_cast<std::int32_t>(i);
                length = strings_[i].size();
            }
            ids.push_back(best);
            text.remove_prefix(length);
        }
    }

    void decode(std::span<const std::int32_t> ids, std::string& text, bool skip_special) const override {
        for (const std::int32_t id : ids) {
            if (id < 0 || id >= vocab_size()) throw causeway::DataError("no such id");
            if (id < 256) {
                text += static_cast<char>(id);
            } else if (const auto at = static_cast<std::size_t>(id - 256); at < strings_.size()) {
                if (!skip_special || !strings_[at].starts_with("<|")) text += strings_[at];
            }
        }
    }

    std::optional<std::int32_t> find(std::string_view token) const override {
        for (std::size_t i = 0; i < strings_.size(); ++i) {
            if (strings_[i] == token) return 256 + static_cast<std::int32_t>(i);
        }
        return std::nullopt;
    }

    std::string token_bytes(std::int32_t id) const override {
        std::string text;
        decode(std::span(&id, 1), text, false);
        return text;
    }

    bool is_special(std::int32_t id) const override { return id >= 256 && token_bytes(id).starts_with("<|"); }

    const causeway::TextFrame& frame() const override { return frame_; }

    /// Behind a blank, which is in none of the strings.
    std::optional<std::size_t> safe_cut(std::string_view text, std::size_t from) const override {
        const std::size_t blank = text.find(' ', from == 0 ? 0 : from - 1);
        if (blank == std::string_view::npos || blank + 1 >= text.size()) return std::nullopt;
        return blank + 1;
    }

  private:
    causeway::TextFrame frame_;
    std::vector<std::string> strings_;
    std::int64_t vocab_size_;
};

inline std::shared_ptr<const causeway::Tokenizer> small_tokenizer() { return std::make_shared<SmallTokenizer>(); }
