// libFuzzer target: whatever the bytes are, the reader of token files takes them or refuses them with an IoError; the
// tokens it takes fill the file from their offset to its end.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "causeway/error.hpp"
#include "io/token_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    // The first byte chooses what the config asks for.
    const auto wanted = static_cast<causeway::TokenType>(data[0] % 6);
    const std::span<const std::byte> file = std::as_bytes(std::span(data + 1, size - 1));
    try {
        const causeway::TokenLayout layout = causeway::find_token_layout("fuzz.bin", file, wanted);
        const std::size_t width = causeway::width_of(layout.type);
        if (width == 0 || layout.count <= 0) std::abort();
        if (layout.offset + static_cast<std::size_t>(layout.count) * width != file.size()) std::abort();
    } catch (const causeway::IoError&) {
    }
    return 0;
}
