#include "kernels/arch.hpp"
#include "kernels/dropout/dropout_row.hpp"
#include "kernels/families.hpp"
#include "kernels/integers.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

constexpr std::int64_t counters = lanes / 2;  // of 64 bits in a vector

/// One word of each counter, in the low halves of 64-bit lanes; the high halves hold whatever.
struct Words {
    VecLong word[4];
};

/// Philox4x32-10 (base/philox.hpp) of counters that differ in their first word.
Words philox(VecLong first, std::uint32_t query, std::uint32_t head, std::uint32_t row, const std::uint32_t (&key)[2]) {
    const VecLong multiplier0(std::uint64_t{0xD2511F53}), multiplier1(std::uint64_t{0xCD9E8D57});
    VecLong c0 = first, c1(std::uint64_t{query}), c2(std::uint64_t{head}), c3(std::uint64_t{row});
    std::uint32_t key0 = key[0], key1 = key[1];
    for (int round = 0; round < 10; ++round) {
        const VecLong product0 = multiply_low_halves(multiplier0, c0);
        const VecLong product1 = multiply_low_halves(multiplier1, c2);
        c0 = (product1 >> 32) ^ c1 ^ VecLong(std::uint64_t{key0});
        c1 = product1;
        c2 = (product0 >> 32) ^ c3 ^ VecLong(std::uint64_t{key1});
        c3 = product0;
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    return {{c0, c1, c2, c3}};
}

/// 0 or scale for the elements of two words of each counter, side by side.
Vec factors_of(VecLong even, VecLong odd, VecInt threshold, VecInt scale) {
    const VecInt words = halves_of((even & VecLong(std::uint64_t{0xFFFFFFFF})) | (odd << 32));
    // Unsigned order is signed order with the highest bit turned.
    const auto dropped = (words ^ VecInt(INT32_MIN)) < threshold;
    return float_of(xsimd::select(dropped, VecInt(0), scale));
}

void apply(const DropoutMask& mask, const float* x, float* y, std::int64_t length, std::int64_t cols,
           std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        drop(mask, r / length, 0, r % length, 0, cols, x + r * cols, y + r * cols);
    }
}

}  // namespace

void dropout_factors(const DropoutMask& mask, std::int64_t row, std::int64_t head, std::int64_t query,
                     std::int64_t begin, std::int64_t end, float* factors) {
    alignas(64) std::uint64_t index[counters];
    for (std::int64_t i = 0; i < counters; ++i) index[i] = static_cast<std::uint64_t>(i);
    const VecLong lane = VecLong::load_aligned(index);
    const VecInt threshold(static_cast<std::int32_t>(mask.threshold ^ 0x80000000U));
    const VecInt scale = bits_of(Vec(static_cast<float>(mask.scale)));
    const auto global_row = mask.first_row + static_cast<std::uint32_t>(row);
    for (std::int64_t c = begin; c < end; c += dropout_columns, factors += dropout_columns) {
        for (std::int64_t i = 0; i < dropout_columns / 4; i += counters) {
            const VecLong first = lane + VecLong(static_cast<std::uint64_t>(c / 4 + i));
            const Words words = philox(first, static_cast<std::uint32_t>(query), static_cast<std::uint32_t>(head),
                                       global_row, mask.key);
            store(factors + 2 * i, factors_of(words.word[0], words.word[1], threshold, scale));
            store(factors + dropout_columns / 2 + 2 * i, factors_of(words.word[2], words.word[3], threshold, scale));
        }
    }
}

void drop(const DropoutMask& mask, std::int64_t row, std::int64_t head, std::int64_t query, std::int64_t begin,
          std::int64_t end, const float* x, float* y) {
    alignas(64) float factors[dropout_columns];
    for (std::int64_t c = begin; c < end; c += dropout_columns) {
        const std::int64_t width = least(dropout_columns, end - c);
        dropout_factors(mask, row, head, query, c, c + width, factors);
        const float* from = x + (c - begin);
        float* to = y + (c - begin);
        for (std::int64_t i = 0; i < width; i += lanes) {
            const std::int64_t n = least(lanes, width - i);
            store_partial(to + i, load_partial(from + i, n) * load(factors + i), n);
        }
    }
}

void add_dropout(KernelTable<float>& table) { table.dropout.apply = apply; }

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
