#include "data/open_tokens.hpp"

#include <array>
#include <utility>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "data/document_encoder.hpp"
#include "data/encode_file.hpp"
#include "io/data_files.hpp"
#include "io/mapped_file.hpp"
#include "io/token_file.hpp"

namespace causeway {
namespace {

/// What opening a file needs to know.
struct Opening {
    const DataConfig& data;
    EncodingSettings encoding;
    std::unique_ptr<DocumentEncoder> documents;  ///< sources with one a line
    std::vector<std::int32_t> separator;         ///< between text files
};

void map_bytes(const std::string& path, TokenStore& store) {
    auto file = std::make_shared<const MappedFile>(path);
    if (file->size() == 0) throw DataError(fmt::format("{}: is empty, expected text", path));
    TokenPiece piece;
    piece.data = file->bytes().data();
    piece.count = static_cast<std::int64_t>(file->size());
    piece.origin = path;
    piece.file = file.get();
    piece.owner = std::move(file);
    store.append(std::move(piece));
}

void open_text(const std::string& path, const Opening& opening, TokenStore& store) {
    if (store.size() > 0) append_tokens(opening.separator, path + ": the separator before it", store);
    opening.data.tokenizer.empty() ? map_bytes(path, store) : append_text(path, opening.encoding, store);
}

void open_lines(const std::string& path, const Opening& opening, TokenStore& store) {
    append_lines(path, *opening.documents, opening.encoding, store);
}

void open_token_file(const std::string& path, const Opening& opening, TokenStore& store) {
    auto file = std::make_shared<const TokenFile>(path, opening.data.token_type);
    TokenPiece piece;
    piece.type = file->layout().type;
    piece.data = file->data();
    piece.count = file->layout().count;
    piece.origin = path;
    piece.file = &file->mapping();
    piece.owner = std::move(file);
    store.append(std::move(piece));
}

using OpenFile = void (*)(const std::string& path, const Opening& opening, TokenStore& store);
using MakeEncoder = std::unique_ptr<DocumentEncoder> (*)(const DataConfig&, std::shared_ptr<const Tokenizer>);

struct SourceEntry {
    OpenFile open;
    MakeEncoder encoder;
};

/// In the order of DataSource, up to the first built-in task.
constexpr std::array<SourceEntry, 4> sources{
    SourceEntry{open_text, nullptr}, SourceEntry{open_lines, text_line_encoder},
    SourceEntry{open_lines, chat_line_encoder}, SourceEntry{open_token_file, nullptr}};

Opening prepare(const Config& config, const SourceEntry& source, const std::shared_ptr<const Tokenizer>& tokenizer) {
    const auto threads = static_cast<int>(config.runtime.threads);
    Opening opening{config.data, {tokenizer, threads > 0 ? threads : available_threads()}, nullptr, {}};
    if (source.encoder != nullptr) opening.documents = source.encoder(config.data, tokenizer);
    if (config.data.source == DataSource::text) {
        opening.separator = marker_tokens(config.data.document_separator, "document_separator",
                                          config.data.tokenizer.empty(), *tokenizer);
    }
    return opening;
}

}  // namespace

OpenedTokens open_tokens(const Config& config, const std::string& path, const std::string& field,
                         const std::shared_ptr<const Tokenizer>& tokenizer) {
    const Stopwatch watch;
    const SourceEntry& source = sources.at(static_cast<std::size_t>(config.data.source));
    const std::vector<std::string> files = files_of_path(path, config.data.source, field);
    const Opening opening = prepare(config, source, tokenizer);
    auto store = std::make_shared<TokenStore>(config.model.vocab_size);
    for (const std::string& file : files) source.open(file, opening, *store);
    OpenedTokens opened;
    opened.store = std::move(store);
    opened.name = files.size() == 1 ? files[0] : fmt::format("{} ({} files)", path, files.size());
    opened.encoded = source.encoder != nullptr ||
                     (tokenizer != nullptr && config.data.source == DataSource::text && !config.data.tokenizer.empty());
    opened.encoding_seconds = watch.seconds();
    return opened;
}

}  // namespace causeway
