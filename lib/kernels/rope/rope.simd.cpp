#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// One row of X and Y with its cosines and sines.
struct Row {
    const float* x;
    float* y;
    const float* cos;
    const float* sin;
};

/// n <= lanes pairs from i on of all heads, which share their angles.
template <bool whole>
inline void rotate_pairs(const RopeArgs<float>& args, const Row& row, Vec sign, std::int64_t i, std::int64_t n) {
    const auto get = [n](const float* from) { return whole ? load(from) : load_partial(from, n); };
    const auto put = [n](float* to, Vec v) { whole ? store(to, v) : store_partial(to, v, n); };
    const std::int64_t half = args.head_dim / 2;
    const Vec cos = get(row.cos + i), sin = get(row.sin + i) * sign;
    for (std::int64_t at = i; at < args.heads * args.head_dim; at += args.head_dim) {
        const Vec a = get(row.x + at), b = get(row.x + at + half);
        put(row.y + at, xsimd::fma(a, cos, Vec(0.0f) - b * sin));
        put(row.y + at + half, xsimd::fma(b, cos, a * sin));
    }
}

void rotate_halves(const RopeArgs<float>& args, const Row& row) {
    const std::int64_t half = args.head_dim / 2;
    const Vec sign(args.inverse ? -1.0f : 1.0f);
    std::int64_t i = 0;
    for (; i + lanes <= half; i += lanes) rotate_pairs<true>(args, row, sign, i, lanes);
    if (i < half) rotate_pairs<false>(args, row, sign, i, half - i);
}

/// Pair by pair: no family that Causeway trains interleaves, old checkpoints do.
void rotate_neighbours(const RopeArgs<float>& args, const Row& row) {
    const std::int64_t half = args.head_dim / 2;
    const float sign = args.inverse ? -1.0f : 1.0f;
    for (std::int64_t h = 0; h < args.heads; ++h) {
        const float* x = row.x + h * args.head_dim;
        float* y = row.y + h * args.head_dim;
        for (std::int64_t i = 0; i < half; ++i) {
            const float a = x[2 * i], b = x[2 * i + 1], s = row.sin[i] * sign;
            y[2 * i] = a * row.cos[i] - b * s;
            y[2 * i + 1] = b * row.cos[i] + a * s;
        }
    }
}

void rotate(const RopeArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const std::int64_t past = args.past == nullptr ? 0 : args.past[r / args.seq_len];
        const float* cos = args.table + (past + r % args.seq_len) * args.head_dim;
        const Row row{args.x + r * args.width, args.y + r * args.width, cos, cos + args.head_dim / 2};
        args.interleaved ? rotate_neighbours(args, row) : rotate_halves(args, row);
        if (row.x == row.y) continue;
        for (std::int64_t c = args.heads * args.head_dim; c < args.width; ++c) row.y[c] = row.x[c];
    }
}

}  // namespace

void add_rope(KernelTable<float>& table) { table.rope.rotate = rotate; }

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
