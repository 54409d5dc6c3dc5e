#pragma once

// A square of lanes x lanes floats transposed in registers. xsimd 8.1 has no transpose.

#include "kernels/arch.hpp"
#include "kernels/sequence.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// Lane i of the result is lane Pattern::at(i) of a, or of b when at(i) >= lanes.
template <class Pattern>
inline __attribute__((always_inline)) Vec shuffle(Vec a, Vec b) {
    const Vec::register_type x = a;
    const Vec::register_type y = b;
    return [&]<int... i>(Sequence<i...>) __attribute__((always_inline)) {
        return Vec(__builtin_shufflevector(x, y, Pattern::at(i)...));
    }
    (UpTo<static_cast<int>(lanes)>{});
}

// Within each group of four lanes (128 bits): the low or high halves of a and b, interleaved singly or in pairs.
template <int half>
struct InterleaveSingles {
    static constexpr int at(int i) { return (i & ~3) + 2 * half + (i & 3) / 2 + (i & 1) * static_cast<int>(lanes); }
};
template <int half>
struct InterleavePairs {
    static constexpr int at(int i) { return (i & ~3) + 2 * half + (i & 1) + (i & 3) / 2 * static_cast<int>(lanes); }
};
/// The even (0) or odd (1) groups of four of a, then those of b.
template <int parity>
struct EveryOtherGroup {
    static constexpr int at(int i) {
        constexpr int width = static_cast<int>(lanes);
        constexpr int pairs = width >= 8 ? width / 8 : 1;  // a register of four lanes is one group: never asked
        const int group = i / 4 % pairs;
        return (i >= width / 2 ? width : 0) + 4 * (2 * group + parity) + i % 4;
    }
};

/// row[i] lane j becomes row[j] lane i.
inline __attribute__((always_inline)) void transpose(Vec (&row)[lanes]) {
    constexpr int groups = static_cast<int>(lanes) / 4;
    Vec column[4][groups];  // [c][g] holds in its group q rows 4g..4g+3 of column 4q + c
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
        const Vec low01 = shuffle<InterleaveSingles<0>>(row[4 * g], row[4 * g + 1]);
        const Vec high01 = shuffle<InterleaveSingles<1>>(row[4 * g], row[4 * g + 1]);
        const Vec low23 = shuffle<InterleaveSingles<0>>(row[4 * g + 2], row[4 * g + 3]);
        const Vec high23 = shuffle<InterleaveSingles<1>>(row[4 * g + 2], row[4 * g + 3]);
        column[0][g] = shuffle<InterleavePairs<0>>(low01, low23);
        column[1][g] = shuffle<InterleavePairs<1>>(low01, low23);
        column[2][g] = shuffle<InterleavePairs<0>>(high01, high23);
        column[3][g] = shuffle<InterleavePairs<1>>(high01, high23);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
        Vec(&t)[groups] = column[c];
        if constexpr (groups == 1) {
            row[c] = t[0];
        } else if constexpr (groups == 2) {
            row[c] = shuffle<EveryOtherGroup<0>>(t[0], t[1]);
            row[4 + c] = shuffle<EveryOtherGroup<1>>(t[0], t[1]);
        } else {
            const Vec even01 = shuffle<EveryOtherGroup<0>>(t[0], t[1]);
            const Vec even23 = shuffle<EveryOtherGroup<0>>(t[2], t[3]);
            const Vec odd01 = shuffle<EveryOtherGroup<1>>(t[0], t[1]);
            const Vec odd23 = shuffle<EveryOtherGroup<1>>(t[2], t[3]);
            row[c] = shuffle<EveryOtherGroup<0>>(even01, even23);
            row[4 + c] = shuffle<EveryOtherGroup<0>>(odd01, odd23);
            row[8 + c] = shuffle<EveryOtherGroup<1>>(even01, even23);
            row[12 + c] = shuffle<EveryOtherGroup<1>>(odd01, odd23);
        }
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
