#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {
namespace {

constexpr std::int32_t byte_count = 256;

class ByteTokenizer final : public Tokenizer {
  public:
    std::int64_t vocab_size() const override { return byte_count; }

    void encode(std::string_view text, std::vector<std::int32_t>& ids) const override {
        ids.reserve(ids.size() + text.size());
        for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
    }

    void decode(std::span<const std::int32_t> ids, std::string& text, bool) const override {
        for (const std::int32_t id : ids) text.push_back(byte_of(id));
    }

    std::optional<std::int32_t> find(std::string_view token) const override {
        if (token.size() != 1) return std::nullopt;
        return static_cast<unsigned char>(token[0]);
    }

    std::string token_bytes(std::int32_t id) const override { return std::string(1, byte_of(id)); }
    bool is_special(std::int32_t) const override { return false; }

    const TextFrame& frame() const override {
        static const TextFrame none;
        return none;
    }

    std::optional<std::size_t> safe_cut(std::string_view text, std::size_t from) const override {
        return from < text.size() ? std::optional(from) : std::nullopt;
    }

  private:
    static char byte_of(std::int32_t id) {
        if (id < 0 || id >= byte_count) {
            throw DataError(fmt::format("token {} is outside [0, {}), the bytes", id, byte_count));
        }
        return static_cast<char>(id);
    }
};

}  // namespace

std::shared_ptr<const Tokenizer> byte_tokenizer() {
    static const auto tokenizer = std::make_shared<const ByteTokenizer>();
    return tokenizer;
}

}  // namespace causeway
