#include "io/token_file.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "causeway/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::string llmc_header(std::int32_t magic, std::int32_t version, std::int32_t count) {
    std::vector<std::int32_t> header(256, 0);
    header[0] = magic, header[1] = version, header[2] = count;
    return bytes_of(header);
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data, bool fortran = false) {
    std::string dict =
        "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" + shape + "), }";
    dict.resize(117, ' ');
    dict += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dict.size()) + '\0' + dict + data;
}

TokenLayout layout_of(const std::string& name, const std::string& content, TokenType wanted = TokenType::automatic) {
    return find_token_layout(name, std::as_bytes(std::span(content)), wanted);
}

}  // namespace

TEST_CASE("nanoGPT's .bin is uint16 from the first byte on") {
    const TokenLayout layout = layout_of("train.bin", bytes_of<std::uint16_t>({1, 2, 50256}));
    CHECK(layout.type == TokenType::uint16);
    CHECK(layout.offset == 0);
    CHECK(layout.count == 3);
    CHECK(layout_of("a.dat", "12345678", TokenType::uint32).count == 2);
    CHECK(layout_of("a.dat", "12345678", TokenType::uint8).count == 8);
    CHECK(layout_of("a.bin", "12345678", TokenType::int64).count == 1);
    CHECK(layout_of("a.bin", "12345678", TokenType::int32).type == TokenType::int32);
}

TEST_CASE("llm.c's headers say width and number") {
    const TokenLayout gpt2 = layout_of("x.bin", llmc_header(20240520, 1, 3) + bytes_of<std::uint16_t>({1, 2, 3}));
    CHECK(gpt2.type == TokenType::uint16);
    CHECK(gpt2.offset == 1024);
    CHECK(gpt2.count == 3);
    const TokenLayout llama = layout_of("x", llmc_header(20240801, 7, 2) + bytes_of<std::uint32_t>({1, 128000}));
    CHECK(llama.type == TokenType::uint32);
    CHECK(llama.count == 2);
}

TEST_CASE(".npy files say width and number, whatever their shape") {
    CHECK(layout_of("a.npy", npy("|u1", "3,", "abc")).type == TokenType::uint8);
    CHECK(layout_of("a.npy", npy("<u2", "2, 3", std::string(12, 'a'))).count == 6);
    CHECK(layout_of("a.npy", npy("<u4", "1,", "abcd")).type == TokenType::uint32);
    CHECK(layout_of("a.npy", npy("<i4", "1,", "abcd")).type == TokenType::int32);
    const TokenLayout wide = layout_of("a.npy", npy("<i8", "1, 1, 1, 1, 2", std::string(16, 'a')));
    CHECK(wide.type == TokenType::int64);
    CHECK(wide.offset == 128);
    CHECK(wide.count == 2);
    CHECK(layout_of("a.npy", npy("<u2", "4,", std::string(8, 'a'), true)).count == 4);
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy("<u2", "2, 2", std::string(8, 'a'), true)), IoError, "Fortran order");
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy("<f4", "1,", "abcd")), IoError,
                         "a.npy: dtype '<f4' holds no tokens, expected |u1, <u2, <u4, <i4 or <i8");
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy(">u2", "2,", "abcd")), IoError, "dtype '>u2'");
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy("", "2,", "abcd")), IoError, "dtype ''");
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy("<u2", "3,", "abcd")), IoError,
                         "the shape (3) of <u2 does not take the 4 bytes that follow the header");
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy("<u2", "4611686018427387904, 8", "abcd")), IoError, "does not take");
    CHECK_THROWS_MESSAGE(layout_of("a.npy", npy("<u2", "0,", "")), IoError, "has a header but no tokens");
}

TEST_CASE("B58: token files with odd bytes, no bytes or a header that disagrees are refused with offset and value") {
    CHECK_THROWS_MESSAGE(layout_of("a.bin", "12345"), IoError,
                         "a.bin: has 5 bytes, which is no whole number of uint16 tokens: 1 left over at offset 4");
    CHECK_THROWS_MESSAGE(layout_of("a.bin", "12345", TokenType::uint32), IoError, "of uint32 tokens: 1 left over");
    CHECK_THROWS_MESSAGE(layout_of("a.bin", ""), IoError, "a.bin: is empty, expected tokens");
    CHECK_THROWS_MESSAGE(layout_of("a.tok", "1234"), IoError, "a.tok: is neither .npy nor .bin: say what its numbers");
    const std::string three = bytes_of<std::uint16_t>({1, 2, 3});
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240520, 1, 4) + three), IoError,
                         "x.bin: its header says 4 tokens of uint16 at offset 8, but 6 bytes follow it");
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240520, 1, -3) + three), IoError, "says -3 tokens");
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240520, 2, 3) + three), IoError,
                         "has version 2 at offset 4, expected 1 with number 20240520");
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240801, 1, 3) + three), IoError, "version 1 at offset 4");
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240520, 1, 0)), IoError, "has a header but no tokens");
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240520, 1, 3).substr(0, 100)), IoError,
                         "has 100 bytes and ends inside its header of llm.c, which takes 1024");
    CHECK_THROWS_MESSAGE(layout_of("x.bin", llmc_header(20240520, 1, 3) + three, TokenType::uint32), IoError,
                         "its header says uint16, data.token_type says uint32");
}

TEST_CASE("a token file beyond 4 GiB is mapped, not read") {
    const TemporaryFolder folder;
    const std::string path = folder.write("large.bin", "");
    constexpr std::uintmax_t size = (std::uintmax_t{5} << 30) + 2;
    std::error_code error;
    std::filesystem::resize_file(path, size, error);
    if (error) {
        WARN("the file system has no room for a sparse file of 5 GiB: not tested");
        SUCCEED();
        return;
    }
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(size - 2));
    file.write("\x07\x01", 2);
    file.close();
    const TokenFile tokens(path);
    CHECK(tokens.layout().count == static_cast<std::int64_t>(size / 2));
    std::uint16_t last = 0;
    std::memcpy(&last, tokens.data() + size - 2, 2);
    CHECK(last == 0x0107);
}
