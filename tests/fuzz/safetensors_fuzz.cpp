// libFuzzer target: whatever the bytes are, the reader of safetensors headers takes them or refuses them with an
// IoError; what it takes lies inside the file.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "causeway/error.hpp"
#include "io/safetensors_header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
    try {
        std::size_t sum = 0;
        for (const causeway::SafetensorsEntry& entry : causeway::parse_safetensors_header("fuzz", file).tensors) {
            if (entry.offset > size || entry.bytes > size - entry.offset) std::abort();
            for (const std::byte byte : file.subspan(entry.offset, entry.bytes)) sum += std::to_integer<unsigned>(byte);
        }
        if (sum > 255 * size) std::abort();  // tensors do not overlap
    } catch (const causeway::IoError&) {
    }
    return 0;
}
