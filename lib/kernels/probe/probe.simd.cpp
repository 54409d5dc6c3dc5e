#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

// Two FMA units of latency 4 need 8 chains; 12 leave room and fit the 16 registers of AVX2 beside two operands.
constexpr int chains = 12;
constexpr std::int64_t rounds = 8;  ///< a loop, so that its branch costs nothing

double multiply_add(std::int64_t iterations) {
    // Where the chains start is known at run time only: a chain that starts at 4 would be folded away.
    Vec sum[chains];
    for (int c = 0; c < chains; ++c) sum[c] = Vec(static_cast<float>(c + iterations % 2));
    // x = x * 0.75 + 1 tends to 4: no overflow, no denormals, and no product the compiler could move out of the loop.
    const Vec factor(0.75f);
    const Vec addend(1.0f);
    for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 8
        for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
            for (int c = 0; c < chains; ++c) sum[c] = xsimd::fma(sum[c], factor, addend);
        }
    }
    double total = 0;
    for (int c = 0; c < chains; ++c) total += static_cast<double>(reduce_add(sum[c]));
    return total;
}

double read(const float* x, std::int64_t n) {
    constexpr int streams = 8;
    Vec sum[streams];
    for (int s = 0; s < streams; ++s) sum[s] = Vec(0.0f);
    std::int64_t i = 0;
    for (; i + streams * lanes <= n; i += streams * lanes) {
#pragma GCC unroll 8
        for (int s = 0; s < streams; ++s) sum[s] += load(x + i + s * lanes);
    }
    double total = 0;
    for (int s = 0; s < streams; ++s) total += static_cast<double>(reduce_add(sum[s]));
    for (; i < n; ++i) total += static_cast<double>(x[i]);
    return total;
}

}  // namespace

void add_probe(KernelTable<float>& table) { table.probe = {multiply_add, 2 * lanes * chains * rounds, read}; }

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
