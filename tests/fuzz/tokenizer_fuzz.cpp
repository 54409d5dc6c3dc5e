// libFuzzer target: whatever the bytes are, the reader of tokenizer.json takes them or refuses them with an IoError;
// what it takes encodes any text, and gives the same ids for its parts.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "causeway/error.hpp"
#include "io/tokenizer/tokenizer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::string_view text = "the  earth's 12\r\n\xC3\xA9\xFF<|a|> ab<|a|>\n";
    try {
        const auto tokenizer = causeway::parse_tokenizer({reinterpret_cast<const char*>(data), size}, "fuzz");
        std::vector<std::int32_t> ids;
        tokenizer->encode(text, ids);
        for (const std::int32_t id : ids) {
            if (id < 0 || id >= tokenizer->vocab_size()) std::abort();
        }
        std::string back;
        tokenizer->decode(ids, back);
        if (const auto cut = tokenizer->safe_cut(text, 5)) {
            std::vector<std::int32_t> parts;
            tokenizer->encode(text.substr(0, *cut), parts);
            tokenizer->encode(text.substr(*cut), parts);
            if (parts != ids) std::abort();
        }
    } catch (const causeway::IoError&) {
    } catch (const causeway::DataError&) {  // a pattern that takes too many steps
    }
    return 0;
}
