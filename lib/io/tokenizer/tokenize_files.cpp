#include "io/tokenizer/tokenize_files.hpp"

#include <string_view>

#include "io/tokenizer/document_text.hpp"
#include "io/tokenizer/in_order.hpp"
#include "io/tokenizer/text_chunks.hpp"

namespace causeway {
namespace {

struct Encoded {
    std::vector<std::int32_t> ids;
    std::uint64_t bytes = 0, documents = 0;
};

class ChunkEncoder {
  public:
    ChunkEncoder(const std::vector<std::string>& paths, const Tokenizer& tokenizer, const TokenizeOptions& options)
        : paths_(paths), tokenizer_(tokenizer), options_(options) {}

    Encoded operator()(const TextChunk& chunk) const {
        Encoded result;
        result.bytes = chunk.text.size();
        result.ids.reserve(chunk.text.size() / 2);
        if (options_.jsonl) {
            encode_lines(chunk, result);
            return result;
        }
        if (chunk.first) put(options_.start, result);
        tokenizer_.encode(chunk.text, result.ids);
        if (chunk.last) put(options_.separator, result);
        result.documents = chunk.last ? 1 : 0;
        return result;
    }

  private:
    static void put(std::optional<std::int32_t> id, Encoded& result) {
        if (id) result.ids.push_back(*id);
    }

    void encode_lines(const TextChunk& chunk, Encoded& result) const {
        visit_json_lines(chunk, paths_[chunk.input], options_.field, [&](std::string_view text) {
            put(options_.start, result);
            tokenizer_.encode(text, result.ids);
            put(options_.separator, result);
            ++result.documents;
        });
    }

    const std::vector<std::string>& paths_;
    const Tokenizer& tokenizer_;
    const TokenizeOptions& options_;
};

}  // namespace

TokenizeCounts tokenize_files(const std::vector<std::string>& paths, const Tokenizer& tokenizer,
                              const TokenizeOptions& options,
                              const std::function<void(std::span<const std::int32_t>)>& write,
                              const std::function<void(const TokenizeCounts&)>& progress) {
    TextChunks chunks(paths, tokenizer, options.jsonl ? TextChunks::Cut::lines : TextChunks::Cut::safe,
                      options.chunk_bytes);
    const ChunkEncoder encode(paths, tokenizer, options);
    TokenizeCounts counts;
    in_order(
        options.threads, [&] { return chunks.next(); }, encode,
        [&](const Encoded& result) {
            write(result.ids);
            counts.bytes += result.bytes;
            counts.documents += result.documents;
            counts.tokens += result.ids.size();
            if (progress) progress(counts);
        });
    return counts;
}

}  // namespace causeway
