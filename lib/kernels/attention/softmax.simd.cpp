#include "kernels/attention/softmax_row.hpp"
#include "kernels/families.hpp"
#include "kernels/integers.hpp"
#include "kernels/vec_math.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

constexpr float infinity = __builtin_inff();
/// Vectors in flight: maximum and sum then wait on no latency.
constexpr int unroll = 4;

}  // namespace

float row_max(const float* x, std::int64_t cols) {
    Vec top[unroll] = {Vec(-infinity), Vec(-infinity), Vec(-infinity), Vec(-infinity)};
    std::int64_t c = 0;
    for (; c + unroll * lanes <= cols; c += unroll * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < unroll; ++u) top[u] = xsimd::max(top[u], load(x + c + u * lanes));
    }
    for (; c + lanes <= cols; c += lanes) top[0] = xsimd::max(top[0], load(x + c));
    if (c < cols) top[1] = xsimd::max(top[1], load_partial(x + c, cols - c, -infinity));
    return reduce_max(xsimd::max(xsimd::max(top[0], top[1]), xsimd::max(top[2], top[3])));
}

namespace {

/// y = exp(x - base); returns the sum.
float row_exp(const float* x, float* y, std::int64_t cols, float base) {
    const Vec shift(base);
    Vec total[unroll] = {Vec(0.0f), Vec(0.0f), Vec(0.0f), Vec(0.0f)};
    std::int64_t c = 0;
    for (; c + unroll * lanes <= cols; c += unroll * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < unroll; ++u) {
            const Vec e = vexp(load(x + c + u * lanes) - shift);
            store(y + c + u * lanes, e);
            total[u] = total[u] + e;
        }
    }
    for (; c + lanes <= cols; c += lanes) {
        const Vec e = vexp(load(x + c) - shift);
        store(y + c, e);
        total[0] = total[0] + e;
    }
    if (c < cols) {
        const Vec e = vexp(load_partial(x + c, cols - c, -infinity) - shift);
        store_partial(y + c, e, cols - c);
        total[1] = total[1] + e;
    }
    return reduce_add((total[0] + total[1]) + (total[2] + total[3]));
}

void row_scale(float* y, std::int64_t cols, float factor) {
    std::int64_t c = 0;
    for (; c + lanes <= cols; c += lanes) store(y + c, load(y + c) * Vec(factor));
    if (c < cols) store_partial(y + c, load_partial(y + c, cols - c) * Vec(factor), cols - c);
}

/// Rows that go through the three passes together: while the maximum or the sum of one is gathered across the lanes,
/// the next has work to do.
constexpr std::int64_t row_block = 4;
/// Columns up to which that pays; a longer row has enough work of its own.
constexpr std::int64_t short_row = 256;

/// count <= row_block.
void softmax_rows(const float* x, float* y, std::int64_t cols, std::int64_t count) {
    float base[row_block], factor[row_block];
    for (std::int64_t r = 0; r < count; ++r) {
        const float top = row_max(x + r * cols, cols);
        base[r] = top == -infinity ? 0.0f : top;  // a row of all -inf has the sum 0
    }
    for (std::int64_t r = 0; r < count; ++r) {
        const float sum = row_exp(x + r * cols, y + r * cols, cols, base[r]);
        factor[r] = sum == 0.0f ? 0.0f : 1.0f / sum;
    }
    for (std::int64_t r = 0; r < count; ++r) row_scale(y + r * cols, cols, factor[r]);
}

}  // namespace

void softmax_row(const float* x, float* y, std::int64_t cols) { softmax_rows(x, y, cols, 1); }

float row_dot(const float* x, const float* y, std::int64_t cols) {
    Vec total[unroll] = {Vec(0.0f), Vec(0.0f), Vec(0.0f), Vec(0.0f)};
    std::int64_t c = 0;
    for (; c + unroll * lanes <= cols; c += unroll * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < unroll; ++u) {
            total[u] = xsimd::fma(load(x + c + u * lanes), load(y + c + u * lanes), total[u]);
        }
    }
    for (; c + lanes <= cols; c += lanes) total[0] = xsimd::fma(load(x + c), load(y + c), total[0]);
    if (c < cols) total[1] = xsimd::fma(load_partial(x + c, cols - c), load_partial(y + c, cols - c), total[1]);
    return reduce_add((total[0] + total[1]) + (total[2] + total[3]));
}

namespace {

void forward(const float* x, float* y, std::int64_t cols, std::int64_t row_begin, std::int64_t row_end) {
    const std::int64_t block = cols <= short_row ? row_block : 1;
    for (std::int64_t r = row_begin; r < row_end; r += block) {
        softmax_rows(x + r * cols, y + r * cols, cols, least(block, row_end - r));
    }
}

void backward(const float* y, const float* dy, float* dx, std::int64_t cols, std::int64_t row_begin,
              std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const float* weights = y + r * cols;
        const float* dweights = dy + r * cols;
        float* out = dx + r * cols;
        const Vec sum(row_dot(weights, dweights, cols));
        std::int64_t c = 0;
        for (; c + lanes <= cols; c += lanes) store(out + c, load(weights + c) * (load(dweights + c) - sum));
        if (c < cols) {
            const std::int64_t n = cols - c;
            store_partial(out + c, load_partial(weights + c, n) * (load_partial(dweights + c, n) - sum), n);
        }
    }
}

}  // namespace

void add_softmax(KernelTable<float>& table) {
    table.softmax.forward = forward;
    table.softmax.backward = backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
