#include "io/token_file_writer.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/llmc_tokens.hpp"
#include "io/npy_header.hpp"

namespace causeway {
namespace {

constexpr std::int64_t most_16_bits = 65536;
constexpr std::size_t npy_header_bytes = 128;  // with room for any number

void put_little_endian(std::uint32_t value, std::size_t width, char* out) {
    for (std::size_t byte = 0; byte < width; ++byte) out[byte] = static_cast<char>(value >> (8 * byte));
}

std::string llmc_header(std::size_t width, std::int64_t tokens) {
    const LlmcTokens& kind = width == 2 ? llmc_tokens_16 : llmc_tokens_32;
    std::string header(llmc_header_bytes, '\0');
    const auto put = [&](std::size_t place, std::int64_t value) {
        put_little_endian(static_cast<std::uint32_t>(value), 4, header.data() + 4 * place);
    };
    put(0, kind.magic);
    put(1, kind.version);
    put(2, tokens);
    return header;
}

}  // namespace

TokenFileWriter::TokenFileWriter(const std::string& path, TokenFormat format, std::int64_t vocab_size,
                                 std::int64_t shard_tokens, std::vector<std::string> read)
    : path_(path),
      format_(format),
      vocab_size_(vocab_size),
      shard_tokens_(shard_tokens),
      read_(std::move(read)),
      width_(vocab_size <= most_16_bits ? 2 : 4) {
    if (format == TokenFormat::nanogpt && width_ != 2) {
        throw ConfigError(
            fmt::format("format: nanogpt has room for ids below {}, the vocabulary has {}; expected llmc or npy",
                        most_16_bits, vocab_size));
    }
    open();
}

std::string TokenFileWriter::next_path() const {
    if (shard_tokens_ == 0) return path_;
    const std::filesystem::path path(path_);
    const std::string name = fmt::format("{}_{:06}{}", path.stem().string(), files_.size(), path.extension().string());
    return (path.parent_path() / name).string();
}

std::string TokenFileWriter::header(std::int64_t tokens) const {
    if (format_ == TokenFormat::llmc) return llmc_header(width_, tokens);
    if (format_ != TokenFormat::npy) return "";
    return npy_header(fmt::format("<u{}", width_), std::span(&tokens, 1), npy_header_bytes);
}

void TokenFileWriter::open() {
    check_replaces_none(next_path(), read_);
    file_ = std::make_unique<AtomicFile>(next_path());
    written_ = 0;
    const std::string start = header(0);
    file_->write(std::as_bytes(std::span(start)));
}

/// The number of ids is known by now.
void TokenFileWriter::close() {
    if (format_ == TokenFormat::llmc && written_ > std::numeric_limits<std::int32_t>::max()) {
        throw DataError(fmt::format("{}: llm.c's header counts up to {} tokens, there are {}; expected shards",
                                    next_path(), std::numeric_limits<std::int32_t>::max(), written_));
    }
    const std::string start = header(written_);
    if (!start.empty()) file_->rewrite_start(std::as_bytes(std::span(start)));
    file_->commit();
    file_.reset();
    const std::string path = next_path();
    files_.push_back(path);
}

void TokenFileWriter::write(std::span<const std::int32_t> ids) {
    while (!ids.empty()) {
        const std::size_t room = shard_tokens_ == 0 ? ids.size() : static_cast<std::size_t>(shard_tokens_ - written_);
        if (room == 0) {
            close();
            open();
            continue;
        }
        const std::size_t count = std::min(ids.size(), room);
        buffer_.resize(count * width_);
        for (std::size_t i = 0; i < count; ++i) {
            if (ids[i] < 0 || ids[i] >= vocab_size_) {
                throw DataError(fmt::format("{}: token {} at position {} is outside [0, {})", next_path(), ids[i],
                                            written_ + static_cast<std::int64_t>(i), vocab_size_));
            }
            put_little_endian(static_cast<std::uint32_t>(ids[i]), width_, buffer_.data() + i * width_);
        }
        file_->write(std::as_bytes(std::span(buffer_)));
        written_ += static_cast<std::int64_t>(count);
        ids = ids.subspan(count);
    }
}

void TokenFileWriter::finish() { close(); }

std::string TokenFileWriter::shard_beyond() const {
    const std::string next = next_path();
    return shard_tokens_ > 0 && std::filesystem::exists(next) ? next : "";
}

}  // namespace causeway
