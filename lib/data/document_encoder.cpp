#include "data/document_encoder.hpp"

#include <string>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/chat_format.hpp"
#include "data/json_lines.hpp"

namespace causeway {
namespace {

class TextLines final : public DocumentEncoder {
  public:
    TextLines(const DataConfig& data, std::shared_ptr<const Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {
        const bool bytes = data.tokenizer.empty();
        start_ = marker_tokens(data.document_start, "document_start", bytes, *tokenizer_);
        end_ = marker_tokens(data.document_separator, "document_separator", bytes, *tokenizer_);
    }

    void encode(std::string_view line, EncodedDocument& document) const override {
        document.ids.insert(document.ids.end(), start_.begin(), start_.end());
        tokenizer_->encode(read_text_line(line), document.ids);
        document.ids.insert(document.ids.end(), end_.begin(), end_.end());
    }

  private:
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::vector<std::int32_t> start_, end_;
};

/// Which tokens of a text are wholly behind its first `before` bytes and begin before its last `after`: [first, end).
/// Tokens are measured from both ends, so that a tokenizer that rewrites what lies between (Unicode normalisation) does
/// no harm.
std::pair<std::size_t, std::size_t> tokens_between(std::span<const std::int32_t> ids, std::size_t before,
                                                   std::size_t after, const Tokenizer& tokenizer) {
    const auto count_bytes = [&](std::size_t i) { return tokenizer.token_bytes(ids[i]).size(); };
    std::size_t first = 0, end = ids.size();
    for (std::size_t seen = 0; first < ids.size() && seen < before; ++first) seen += count_bytes(first);
    for (std::size_t seen = 0; end > first && seen < after; --end) seen += count_bytes(end - 1);
    return {first, end};
}

class ChatLines final : public DocumentEncoder {
  public:
    ChatLines(const DataConfig& data, std::shared_ptr<const Tokenizer> tokenizer)
        : tokenizer_(std::move(tokenizer)), format_(data.chat_format) {
        if (data.tokenizer.empty()) return;
        for (const std::string_view mark : chat_marks(format_)) {
            if (tokenizer_->find(mark)) continue;
            throw ConfigError(fmt::format("data.chat_format: needs the token {}, which the tokenizer {} does not have",
                                          mark, data.tokenizer));
        }
    }

    /// The texts are encoded one by one: each begins with a mark, which is a token of its own, so that their tokens are
    /// those of the whole.
    void encode(std::string_view line, EncodedDocument& document) const override {
        const std::vector<ChatMessage> messages = read_chat_line(line);
        for (const ChatText& text : write_chat(format_, messages)) {
            const std::size_t begin = document.ids.size();
            tokenizer_->encode(text.text, document.ids);
            document.loss.resize(document.ids.size(), 0);
            if (text.scored_end == 0) continue;
            const auto [first, end] = tokens_between(std::span(document.ids).subspan(begin), text.scored_begin,
                                                     text.text.size() - text.scored_end, *tokenizer_);
            for (std::size_t i = begin + first; i < begin + end; ++i) document.loss[i] = 1;
        }
    }

  private:
    std::shared_ptr<const Tokenizer> tokenizer_;
    ChatFormat format_;
};

}  // namespace

std::unique_ptr<DocumentEncoder> text_line_encoder(const DataConfig& data, std::shared_ptr<const Tokenizer> tokenizer) {
    return std::make_unique<TextLines>(data, std::move(tokenizer));
}

std::unique_ptr<DocumentEncoder> chat_line_encoder(const DataConfig& data, std::shared_ptr<const Tokenizer> tokenizer) {
    return std::make_unique<ChatLines>(data, std::move(tokenizer));
}

std::vector<std::int32_t> marker_tokens(const std::string& text, const char* field, bool bytes,
                                        const Tokenizer& tokenizer) {
    std::vector<std::int32_t> ids;
    if (text.empty()) return ids;
    if (const auto id = tokenizer.find(text)) return {*id};
    tokenizer.encode(text, ids);
    if (bytes || ids.size() == 1) return ids;
    throw ConfigError(fmt::format("data.{}: \"{}\" is no token of the tokenizer", field, text));
}

}  // namespace causeway
