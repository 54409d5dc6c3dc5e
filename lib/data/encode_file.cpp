#include "data/encode_file.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/mapped_file.hpp"
#include "io/token_file.hpp"

namespace causeway {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20;  // enough that threads seldom meet, little to hold at once

/// Tokens as they are kept: no wider than need be.
struct EncodedPart {
    std::vector<std::byte> ids;
    std::vector<std::uint8_t> loss;
    std::vector<std::int64_t> starts;  ///< of documents, counted from the part's first token
    std::int64_t count = 0;
};

template <class T>
void append_as(std::span<const std::int32_t> ids, std::vector<std::byte>& out) {
    const std::size_t before = out.size();
    out.resize(before + ids.size() * sizeof(T));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const T value = static_cast<T>(ids[i]);
        std::memcpy(out.data() + before + i * sizeof(T), &value, sizeof(T));
    }
}

using AppendIds = void (*)(std::span<const std::int32_t>, std::vector<std::byte>&);
AppendIds appender_for(TokenType type) {
    if (type == TokenType::uint8) return append_as<std::uint8_t>;
    return type == TokenType::uint16 ? append_as<std::uint16_t> : append_as<std::uint32_t>;
}

void append_part(std::shared_ptr<const EncodedPart> part, TokenType type, const std::string& origin,
                 TokenStore& store) {
    for (const std::int64_t start : part->starts) store.begin_document(start);
    TokenPiece piece;
    piece.type = type;
    piece.data = part->ids.data();
    piece.count = part->count;
    piece.loss = part->loss.empty() ? nullptr : part->loss.data();
    piece.origin = origin;
    piece.owner = std::move(part);
    store.append(std::move(piece));
}

std::shared_ptr<const EncodedPart> part_of(std::span<const std::int32_t> ids, TokenType type) {
    auto part = std::make_shared<EncodedPart>();
    appender_for(type)(ids, part->ids);
    part->count = static_cast<std::int64_t>(ids.size());
    return part;
}

/// A text cut where the tokenizer says that no token is harmed, into parts of about part_bytes.
std::vector<std::string_view> cut_text(std::string_view text, const Tokenizer& tokenizer) {
    std::vector<std::string_view> parts;
    while (text.size() > part_bytes) {
        const std::optional<std::size_t> cut = tokenizer.safe_cut(text, part_bytes);
        if (!cut) break;
        parts.push_back(text.substr(0, *cut));
        text.remove_prefix(*cut);
    }
    if (!text.empty()) parts.push_back(text);
    return parts;
}

/// A file cut after ends of lines into parts of about part_bytes.
std::vector<std::string_view> cut_lines(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = text.find('\n', std::min(part_bytes, text.size()) - 1);
        const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
        parts.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return parts;
}

/// Encodes the lines of one part.
class LineEncoder {
  public:
    LineEncoder(const std::string& path, std::string_view file, const DocumentEncoder& encoder, TokenType type)
        : path_(path), file_(file), encoder_(encoder), append_(appender_for(type)) {}

    EncodedPart encode(std::string_view lines) const {
        EncodedPart part;
        EncodedDocument document;
        while (!lines.empty()) {
            const std::size_t end = std::min(lines.find('\n'), lines.size());
            encode_line(lines.substr(0, end), document, part);
            lines.remove_prefix(std::min(end + 1, lines.size()));
        }
        return part;
    }

  private:
    void encode_line(std::string_view line, EncodedDocument& document, EncodedPart& part) const {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
        document.clear();
        try {
            encoder_.encode(line, document);
        } catch (const DataError& error) {
            const auto before = static_cast<std::size_t>(line.data() - file_.data());
            const auto number =
                std::count(file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(before), '\n') + 1;
            throw DataError(fmt::format("{}:{}: {}", path_, number, error.what()));
        }
        if (document.ids.empty()) return;
        part.starts.push_back(part.count);
        append_(document.ids, part.ids);
        part.loss.insert(part.loss.end(), document.loss.begin(), document.loss.end());
        part.count += static_cast<std::int64_t>(document.ids.size());
    }

    const std::string& path_;
    std::string_view file_;
    const DocumentEncoder& encoder_;
    AppendIds append_;
};

/// Calls work(i) for i = 0 .. count-1, each once, on up to `threads` threads. Of what is thrown, that of the least i
/// comes out, as if they had run one after the other.
template <class Work>
void for_each_part(std::size_t count, int threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::size_t failed = count;
    std::exception_ptr error;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (i < failed) error = std::current_exception(), failed = i;
                next = count;  // parts before i have begun already
            }
        }
    };
    std::vector<std::jthread> others;
    const std::size_t most = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t t = 1; t < most; ++t) others.emplace_back(run);
    run();
    others.clear();
    if (error) std::rethrow_exception(error);
}

}  // namespace

TokenType narrowest_type(std::int64_t vocab_size) {
    if (vocab_size <= 1 << 8) return TokenType::uint8;
    return vocab_size <= 1 << 16 ? TokenType::uint16 : TokenType::uint32;
}

void append_lines(const std::string& path, const DocumentEncoder& encoder, const EncodingSettings& settings,
                  TokenStore& store) {
    const MappedFile file(path);
    const std::string_view text = utf8::without_byte_order_mark(file.text());
    const TokenType type = narrowest_type(settings.tokenizer->vocab_size());
    const LineEncoder lines(path, text, encoder, type);
    const std::vector<std::string_view> parts = cut_lines(text);
    std::vector<std::shared_ptr<const EncodedPart>> encoded(parts.size());
    for_each_part(parts.size(), settings.threads,
                  [&](std::size_t i) { encoded[i] = std::make_shared<const EncodedPart>(lines.encode(parts[i])); });
    std::int64_t documents = 0;
    for (const auto& part : encoded) documents += static_cast<std::int64_t>(part->starts.size());
    if (documents == 0) throw DataError(fmt::format("{}: holds no document, expected one a line", path));
    for (auto& part : encoded) append_part(std::move(part), type, path, store);
}

void append_text(const std::string& path, const EncodingSettings& settings, TokenStore& store) {
    const MappedFile file(path);
    if (file.size() == 0) throw DataError(fmt::format("{}: is empty, expected text", path));
    const std::string_view text = file.text();
    const TokenType type = narrowest_type(settings.tokenizer->vocab_size());
    const std::vector<std::string_view> parts = cut_text(text, *settings.tokenizer);
    std::vector<std::shared_ptr<const EncodedPart>> encoded(parts.size());
    for_each_part(parts.size(), settings.threads, [&](std::size_t i) {
        std::vector<std::int32_t> ids;
        settings.tokenizer->encode(parts[i], ids);
        encoded[i] = part_of(ids, type);
    });
    for (auto& part : encoded) append_part(std::move(part), type, path, store);
}

void append_tokens(std::span<const std::int32_t> ids, const std::string& origin, TokenStore& store) {
    const TokenType type = narrowest_type(ids.empty() ? 1 : 1 + std::int64_t{*std::ranges::max_element(ids)});
    append_part(part_of(ids, type), type, origin, store);
}

}  // namespace causeway
