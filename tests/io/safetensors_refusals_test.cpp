#include <cstring>
#include <filesystem>
#include <string>

#include "causeway/error.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/safetensors_file.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

/// Opens a file of these bytes.
void open_bytes(const std::string& bytes) {
    const TemporaryFolder folder;
    SafetensorsFile(folder.write("a.safetensors", bytes));
}

void open_file(const std::string& header, const std::string& data = "") { open_bytes(safetensors(header, data)); }

/// A header of one tensor 'w'.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

/// A header of two F32 tensors 'a' and 'b' of one element.
std::string two(const std::string& a, const std::string& b) {
    return R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
           R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}";
}

/// A header length of `length` in front of `rest`.
std::string with_length(std::uint64_t length, const std::string& rest) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + rest;
}

}  // namespace

TEST_CASE("B43: safetensors offsets that do not fit are refused with tensor and reason") {
    open_file(one("F32", "[2]", "[0,8]"), "12345678");  // the sound one
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[8,0]"), "12345678"), IoError,
                         "tensor 'w': data_offsets [8, 0] end");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[0,8]"), "1234567"), IoError,
                         "tensor 'w': data_offsets [0, 8] reach past the end of the file, which has 7 bytes");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[3]", "[0,8]"), "12345678"), IoError,
                         "hold 8 bytes, its shape and dtype F32 take 12");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[-8,0]"), "12345678"), IoError,
                         "data_offsets must hold non-negative");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[0,8.0]"), "12345678"), IoError, "found 8.0");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[0,1e1]"), "12345678"), IoError, "non-negative integers");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[0,8,8]"), "12345678"), IoError, "found 3 elements");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "8"), "12345678"), IoError, "found number");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[0,18446744073709551615]"), "12345678"), IoError,
                         "18446744073709551615");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2]", "[0,99999999999999999999]"), "12345678"), IoError, "tensor 'w'");
}

TEST_CASE("B43: safetensors shapes that overflow are refused before anything is allocated") {
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[4294967296,4294967296]", "[0,0]")), IoError,
                         "tensor 'w': its shape takes more");
    CHECK_THROWS_MESSAGE(open_file(one("F64", "[1152921504606846976]", "[0,0]")), IoError, "its shape takes more");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[2305843009213693951]", "[0,4]"), "1234"), IoError, "hold 4 bytes");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[18446744073709551615,2]", "[0,8]"), "12345678"), IoError,
                         "shape must hold");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[-1]", "[0,4]"), "1234"), IoError, "found -1");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[1.5]", "[0,4]"), "1234"), IoError, "found 1.5");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "[[1]]", "[0,4]"), "1234"), IoError, "nested too deeply");
    CHECK_THROWS_MESSAGE(open_file(one("F32", "1", "[0,4]"), "1234"), IoError, "shape must be an array");
}

TEST_CASE("B43: overlaps, holes and a tail in the data are refused") {
    open_file(two("[4,8]", "[0,4]"), "12345678");  // order in the header does not matter
    CHECK_THROWS_MESSAGE(open_file(two("[0,4]", "[2,6]"), "123456"), IoError,
                         "tensor 'b': its data begins at 2 and overlaps tensor 'a', which ends at 4");
    CHECK_THROWS_MESSAGE(open_file(two("[0,4]", "[0,4]"), "1234"), IoError,
                         "tensor 'b': its data begins at 0 and overlaps");
    CHECK_THROWS_MESSAGE(open_file(two("[0,4]", "[5,9]"), "123456789"), IoError,
                         "tensor 'b': its data begins at 5 and leaves a hole after tensor 'a'");
    CHECK_THROWS_MESSAGE(open_file(two("[1,5]", "[5,9]"), "123456789"), IoError,
                         "tensor 'a': its data begins at 1 and leaves a hole after the header");
    CHECK_THROWS_MESSAGE(open_file(two("[0,4]", "[4,8]"), "123456789"), IoError,
                         "1 bytes follow the data of the last tensor, 'b'");
    CHECK_THROWS_MESSAGE(open_file("{}", "x"), IoError, "1 bytes follow");
}

TEST_CASE("B43: safetensors headers that are not what they should be are refused") {
    CHECK_THROWS_MESSAGE(open_file(R"({"w":{"shape":[],"data_offsets":[0,4]}})", "1234"), IoError,
                         "tensor 'w': has no dtype");
    CHECK_THROWS_MESSAGE(open_file(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", "1234"), IoError, "has no shape");
    CHECK_THROWS_MESSAGE(open_file(R"({"w":{"dtype":"F32","shape":[]}})", "1234"), IoError, "has no data_offsets");
    CHECK_THROWS_MESSAGE(open_file(R"({"w":3})", ""), IoError, "tensor 'w': is not an object");
    CHECK_THROWS_MESSAGE(open_file(one("F33", "[]", "[0,4]"), "1234"), IoError, "tensor 'w': unknown dtype \"F33\"");
    CHECK_THROWS_MESSAGE(open_file(R"({"w":{"dtype":4,"shape":[],"data_offsets":[0,4]}})", "1234"), IoError,
                         "dtype must be a string");
    const std::string entry = R"("w":{"dtype":"F32","shape":[],"data_offsets":[0,4]})";
    CHECK_THROWS_MESSAGE(open_file("{" + entry + "," + entry + "}", "1234"), IoError, "key 'w' appears twice");
    CHECK_THROWS_MESSAGE(open_file(R"({"w":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}})", "1234"),
                         IoError, "key 'dtype' appears twice");
    CHECK_THROWS_MESSAGE(open_file("{" + entry + ",}", "1234"), IoError, "a.safetensors: header: ");
    CHECK_THROWS_MESSAGE(open_file("{\"\xff\":1}"), IoError, "header: ");
    CHECK_THROWS_MESSAGE(open_file(std::string(1'000'000, '[')), IoError, "does not begin with '{'");
    CHECK_THROWS_MESSAGE(open_file("{\"w\":" + std::string(1'000'000, '[')), IoError, "nested too deeply");
    CHECK_THROWS_MESSAGE(open_file(" {}"), IoError, "does not begin with '{'");
}

TEST_CASE("B45: files that are no safetensors are refused at once, with a hint") {
    CHECK_THROWS_MESSAGE(open_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"), IoError,
                         "is a Git LFS pointer, not the file: fetch it with `git lfs pull`");
    CHECK_THROWS_MESSAGE(open_bytes(""), IoError, "a.safetensors: not a safetensors file: it has 0 bytes");
    CHECK_THROWS_MESSAGE(open_bytes("1234567"), IoError, "it has 7 bytes");
    CHECK_THROWS_MESSAGE(open_bytes(with_length(0, "")), IoError, "its header of 0 bytes does not begin with '{'");
    CHECK_THROWS_MESSAGE(open_bytes(with_length(2, "{")), IoError, "declares a header of 2 bytes, 1 follow");
    CHECK_THROWS_MESSAGE(open_bytes(with_length(~std::uint64_t{0}, "{}")), IoError,
                         "declares a header of 18446744073709551615");
    CHECK_THROWS_MESSAGE(open_bytes("PK\x03\x04 a torch archive"), IoError, "PyTorch or zip archive");
    CHECK_THROWS_MESSAGE(open_bytes("\x80\x02}q\x01 a pickle"), IoError, "pickle");
    CHECK_THROWS_MESSAGE(open_bytes("<!DOCTYPE html>"), IoError, "web page");
    CHECK_THROWS_MESSAGE(SafetensorsFile("/no/such/file.safetensors"), IoError,
                         "/no/such/file.safetensors: cannot open");
}

TEST_CASE("B45: a header above the format's limit is refused although the file is large enough") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.safetensors", with_length(126'000'000, "{"));
    std::filesystem::resize_file(path, 130'000'000);  // sparse: takes no disk
    CHECK_THROWS_MESSAGE(SafetensorsFile(path), IoError, "at most 100000000 are allowed");
}
