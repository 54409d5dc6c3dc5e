#include "io/real_elements.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/catch.hpp"

using namespace causeway;

namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

}  // namespace

TEST_CASE("B48: bf16 and f16 are read exactly, subnormals, infinities and NaN included") {
    CHECK(bf16_to_float(0x0001) == 9.18355e-41f);
    CHECK(std::isnan(bf16_to_float(0x7FC0)));
    CHECK(bf16_to_float(0x7F80) == std::numeric_limits<float>::infinity());
    CHECK(bf16_to_float(0x8000) == 0.0f);
    CHECK(std::signbit(bf16_to_float(0x8000)));
    CHECK(f16_to_float(0x0001) == std::ldexp(1.0f, -24));
    CHECK(f16_to_float(0x0001) == 5.9604645e-8f);
    CHECK(f16_to_float(0x0200) == 3.0517578e-5f);
    CHECK(f16_to_float(0x03FF) == std::ldexp(1023.0f, -24));
    CHECK(f16_to_float(0x0400) == std::ldexp(1.0f, -14));
    CHECK(f16_to_float(0x3C00) == 1.0f);
    CHECK(f16_to_float(0xC500) == -5.0f);
    CHECK(f16_to_float(0x7BFF) == 65504.0f);
    CHECK(f16_to_float(0xFC00) == -std::numeric_limits<float>::infinity());
    CHECK(std::isnan(f16_to_float(0x7E00)));
    CHECK(std::signbit(f16_to_float(0x8000)));
}

TEST_CASE("bf16 rounds to nearest, ties to even, and returns what it is given") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const float value = bf16_to_float(static_cast<std::uint16_t>(bits));
        if (std::isnan(value)) continue;
        REQUIRE(float_to_bf16(value) == bits);
    }
    CHECK(float_to_bf16(1.0f + 0x1p-8f) == 0x3F80);  // half way, to the even neighbour below
    CHECK(float_to_bf16(1.0f + 0x1p-8f + 0x1p-20f) == 0x3F81);
    CHECK(float_to_bf16(1.0f + 3 * 0x1p-8f) == 0x3F82);  // half way, to the even neighbour above
    CHECK(float_to_bf16(std::numeric_limits<float>::max()) == 0x7F80);
    CHECK(std::isnan(bf16_to_float(float_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
    CHECK(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7F800001u)))));
}

TEST_CASE("matrices are read and written straight and transposed") {
    const std::vector<float> stored{1, 2, 3, 4, 5, 6};
    std::vector<float> straight(6), turned(6);
    read_matrix({DType::f32, bytes_of(stored), 2, 3, false}, straight.data());
    CHECK(straight == stored);
    read_matrix({DType::f32, bytes_of(stored), 2, 3, true}, turned.data());  // the file has (3, 2)
    CHECK(turned == std::vector<float>{1, 3, 5, 2, 4, 6});
    std::vector<float> back(6);
    write_matrix(turned.data(), 2.0, {DType::f32, {}, 2, 3, true}, reinterpret_cast<std::byte*>(back.data()));
    CHECK(back == std::vector<float>{2, 4, 6, 8, 10, 12});

    const std::vector<double> wide{0.5, 1e-300};
    read_matrix({DType::f64, bytes_of(wide), 1, 2, false}, straight.data());
    CHECK(straight[0] == 0.5f);
    CHECK(straight[1] == 0.0f);
    std::vector<double> doubles(2);
    read_matrix({DType::f64, bytes_of(wide), 1, 2, false}, doubles.data());
    CHECK(doubles == wide);
    const std::vector<std::uint16_t> halves{0x3C00, 0xC500};
    read_matrix({DType::f16, bytes_of(halves), 2, 1, false}, straight.data());
    CHECK(straight[1] == -5.0f);
    std::vector<std::uint16_t> narrow(2);
    write_matrix(doubles.data(), 1.0, {DType::bf16, {}, 1, 2, false}, reinterpret_cast<std::byte*>(narrow.data()));
    CHECK(narrow == std::vector<std::uint16_t>{0x3F00, 0});
}

TEST_CASE("the first value that is not finite is found in every dtype") {
    CHECK_FALSE(find_not_finite_element(DType::f32, bytes_of(std::vector<float>{1, 2})));
    CHECK(find_not_finite_element(DType::f32, bytes_of(std::vector<float>{1, INFINITY}))->element == 1);
    CHECK(find_not_finite_element(DType::bf16, bytes_of(std::vector<std::uint16_t>{0, 0x7FC0}))->element == 1);
    CHECK(find_not_finite_element(DType::f16, bytes_of(std::vector<std::uint16_t>{0x7C00}))->element == 0);
    CHECK(find_not_finite_element(DType::f64, bytes_of(std::vector<double>{NAN}))->element == 0);
}
