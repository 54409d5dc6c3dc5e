#include <cmath>
#include <cstring>
#include <vector>

#include "base/isa.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

template <class T>
std::vector<T> dropped(const DropoutKernels<T>& kernels, const DropoutMask& mask, std::int64_t rows,
                       std::int64_t length, std::int64_t cols, std::int64_t skip = 0) {
    std::vector<T> x(static_cast<std::size_t>(rows * cols), T{1});
    kernels.apply(mask, x.data(), x.data(), length, cols, 0, skip);
    kernels.apply(mask, x.data(), x.data(), length, cols, skip, rows);
    return x;
}

}  // namespace

TEST_CASE("dropout: every ISA drops the same elements, whatever the cut") {
    for (const std::int64_t cols : {1, 5, 16, 31, 33, 100}) {
        const DropoutMask mask = dropout_mask(0.25, 0x123456789ABCDEFU, 3, 9, 1000);
        const auto expected = dropped(reference_table<double>().dropout, mask, 12, 4, cols);
        for (Isa isa : available_isas()) {
            for (const std::int64_t skip : {0, 5}) {
                const auto found = dropped(kernel_table(isa).dropout, mask, 12, 4, cols, skip);
                bool same = true;
                for (std::size_t i = 0; i < found.size(); ++i)
                    same = same && found[i] == static_cast<float>(expected[i]);
                INFO(to_string(isa) << ", " << cols << " columns");
                CHECK(same);
            }
        }
    }
}

TEST_CASE("B33: dropout scales what it keeps by 1 / (1 - p), and at p = 1 leaves 0") {
    for (Isa isa : available_isas()) {
        const auto& kernels = kernel_table(isa).dropout;
        for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
            const auto x = dropped(kernels, dropout_mask(rate, 1, 1, 0, 0), 1000, 10, 64);
            std::size_t kept = 0;
            bool scaled = true;
            for (const float value : x) {
                if (value == 0) continue;
                ++kept;
                scaled = scaled && value == static_cast<float>(1 / (1 - rate));
            }
            CHECK(scaled);
            // 64000 draws: four standard deviations are at most 0.008.
            CHECK(static_cast<double>(kept) / 64000 == Approx(1 - rate).margin(0.008));
        }
        for (const float value : dropped(kernels, dropout_mask(1, 1, 1, 0, 0), 100, 10, 64)) CHECK(value == 0);
    }
}

TEST_CASE("dropout: seed, step, site and row each change the mask, and the row counts through micro-batches") {
    const auto& kernels = reference_table<float>().dropout;
    const auto mask = [&](std::uint64_t seed, std::int64_t step, std::int64_t site, std::int64_t first_row) {
        return dropped(kernels, dropout_mask(0.5, seed, step, site, first_row), 8, 2, 50);
    };
    const auto base = mask(1, 1, 1, 0);
    CHECK(base == mask(1, 1, 1, 0));
    CHECK(base != mask(2, 1, 1, 0));
    CHECK(base != mask(1, 2, 1, 0));
    CHECK(base != mask(1, 1, 2, 0));
    const auto later = mask(1, 1, 1, 2);  // its row 0 is row 2 of the whole: sequences of 2 x 50 elements
    CHECK(std::memcmp(later.data(), base.data() + 2 * 100, 2 * 100 * sizeof(float)) == 0);
    CHECK(base != later);
}
