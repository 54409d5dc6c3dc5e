#include "io/tensorboard/record.hpp"

#include <array>
#include <bit>

namespace causeway::tensorboard {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
    constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, lowest power first
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
        table[byte] = rest;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

template <class T>
void append(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void append_checksum(std::string& out, std::string_view of) { append(out, std::rotr(crc32c(of), 15) + 0xa282ead8U); }

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    std::uint32_t rest = 0xffffffff;
    for (const char byte : bytes) rest = (rest >> 8) ^ table[(rest ^ static_cast<unsigned char>(byte)) & 0xff];
    return ~rest;
}

std::string record(std::string_view payload) {
    std::string out;
    append(out, static_cast<std::uint64_t>(payload.size()));
    append_checksum(out, out);
    out += payload;
    append_checksum(out, payload);
    return out;
}

}  // namespace causeway::tensorboard
