#include "io/npy.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "causeway/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

/// A version 1.0 file with this header text (newline added) and this content.
std::string npy(const std::string& header, const std::string& data) {
    std::string file("\x93NUMPY\x01\x00", 8);
    const std::size_t length = header.size() + 1;
    file += static_cast<char>(length & 0xff);
    file += static_cast<char>(length >> 8);
    return file + header + "\n" + data;
}

template <class T>
void check_round_trip(const Shape& shape) {
    const TemporaryFolder folder;
    std::vector<T> values(static_cast<std::size_t>(shape.elements()));
    std::iota(values.begin(), values.end(), T(3));
    write_npy(folder.file("a.npy"), TensorDesc(dtype_of<T>(), shape), values.data());
    const NpyFile file(folder.file("a.npy"));
    CHECK(file.desc().dtype == dtype_of<T>());
    CHECK(file.desc().shape == shape);
    std::vector<T> read(values.size());
    file.read(std::span(read));
    CHECK(read == values);
    CHECK((content_of(folder.file("a.npy")).size() - values.size() * sizeof(T)) % 64 == 0);
}

}  // namespace

TEST_CASE("npy files round-trip every dtype and rank") {
    for (const Shape& shape :
         {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 4, 7, 7}, Shape{0}, Shape{2, 0}}) {
        check_round_trip<float>(shape);
        check_round_trip<double>(shape);
        check_round_trip<std::int32_t>(shape);
        check_round_trip<std::int64_t>(shape);
        check_round_trip<std::uint8_t>(shape);
    }
}

TEST_CASE("an npy file is byte for byte what numpy.save writes") {
    const TemporaryFolder folder;
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    write_npy(folder.file("a.npy"), TensorDesc(DType::f32, {2, 3}), values.data());
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    header.resize(128 - 10 - 1, ' ');
    CHECK(content_of(folder.file("a.npy")) ==
          npy(header, std::string(reinterpret_cast<const char*>(values.data()), 24)));
    write_npy(folder.file("b.npy"), TensorDesc(DType::f32, {6}), values.data());
    CHECK_THAT(content_of(folder.file("b.npy")), contains("'shape': (6,), }"));
    write_npy(folder.file("c.npy"), TensorDesc(DType::f32, Shape{}), values.data());
    CHECK_THAT(content_of(folder.file("c.npy")), contains("'shape': (), }"));
}

TEST_CASE("npy files of other writers and versions are read") {
    const TemporaryFolder folder;
    const std::string one("\x01\0\0\0", 4);
    const auto first = [&](const std::string& content) {
        const NpyFile file(folder.write("a.npy", content));
        std::int32_t value = 0;
        file.read(std::span(&value, 1));
        return value;
    };
    CHECK(first(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", one)) == 1);
    CHECK(first(npy("{\"shape\":(1),\"fortran_order\":False,\"descr\":\"<i4\"}", one)) == 1);
    CHECK(first(npy("{'descr': '<i4', 'fortran_order': True, 'shape': ( 1 , ), }", one)) == 1);
    const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1), }\n";
    CHECK(first(std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(header.size()) + std::string(3, '\0') + header +
                one) == 1);
}

TEST_CASE("NumPy's bool is read as bytes") {
    const TemporaryFolder folder;
    const NpyFile file(folder.write(
        "a.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\x01\x00\x01", 3))));
    std::array<std::uint8_t, 3> values{};
    file.read(std::span<std::uint8_t>(values));
    CHECK(values == std::array<std::uint8_t, 3>{1, 0, 1});
}

TEST_CASE("npy files that cannot be trusted are refused with the reason") {
    const TemporaryFolder folder;
    const auto open = [&](const std::string& content) { return NpyFile(folder.write("a.npy", content)); };
    const auto header = [](const std::string& descr, const std::string& shape) {
        return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    };
    CHECK_THROWS_MESSAGE(open(""), IoError, "a.npy: not a .npy file");
    CHECK_THROWS_MESSAGE(open("PK\x03\x04 an npz is a zip"), IoError, "not a .npy file");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(2,)"), "1234")), IoError, "f32 elements of shape (2)");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(2,)"), "123456789")), IoError, "9 bytes");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(4294967296, 4294967296)"), "")), IoError, "0 bytes");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(-1,)"), "")), IoError, "non-negative");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(99999999999999999999,)"), "")), IoError, "non-negative");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(1, 1, 1, 1, 1)"), "1234")), IoError, "more than 4 dimensions");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "(1 1)"), "1234")), IoError, "tuple");
    CHECK_THROWS_MESSAGE(open(npy(header("<f4", "1"), "1234")), IoError, "tuple");
    CHECK_THROWS_MESSAGE(open(npy(header(">f4", "(1,)"), "1234")), IoError, "dtype '>f4' is not supported");
    CHECK_THROWS_MESSAGE(open(npy(header("|O", "(1,)"), "1234")), IoError, "dtype '|O' is not supported");
    CHECK_THROWS_MESSAGE(open(npy("{'descr': [('a', '<f4')], 'shape': (1,)}", "1234")), IoError, "descr");
    CHECK_THROWS_MESSAGE(open(npy("{'descr': '<f4', 'shape': (1,)}", "1234")), IoError, "no fortran_order");
    CHECK_THROWS_MESSAGE(open(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", "1234")), IoError,
                         "Fortran order");
    CHECK_THROWS_MESSAGE(open(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)), IoError, "truncated");
    CHECK_THROWS_MESSAGE(open(std::string("\x93NUMPY\x02\x00\xff\xff", 10)), IoError, "truncated");
    CHECK_THROWS_MESSAGE(open(std::string("\x93NUMPY\x09\x00\x01\x00\n", 11)), IoError, "version 9");
}

TEST_CASE("reading or writing an npy file as something else is refused") {
    const TemporaryFolder folder;
    const std::vector<float> values{1, 2};
    write_npy(folder.file("a.npy"), TensorDesc(DType::f32, {2}), values.data());
    const NpyFile file(folder.file("a.npy"));
    std::vector<double> doubles(1);
    std::vector<float> three(3);
    CHECK_THROWS_MESSAGE(file.read(std::span(doubles)), IoError, "holds f32 (2), expected 1 elements of f64");
    CHECK_THROWS_MESSAGE(file.read(std::span(three)), IoError, "expected 3 elements of f32");
    CHECK_THROWS_MESSAGE(write_npy(folder.file("b.npy"), TensorDesc(DType::bf16, {2}), values.data()), IoError, "bf16");
}
