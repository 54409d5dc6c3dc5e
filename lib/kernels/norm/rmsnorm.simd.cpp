#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// Sums kept side by side, so that additions do not wait for each other.
constexpr int unroll = 4;

float sum_of_squares(const float* x, std::int64_t cols) {
    Vec sum[unroll] = {Vec(0.0f), Vec(0.0f), Vec(0.0f), Vec(0.0f)};
    std::int64_t c = 0;
    for (; c + unroll * lanes <= cols; c += unroll * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < unroll; ++u) {
            const Vec v = load(x + c + u * lanes);
            sum[u] = xsimd::fma(v, v, sum[u]);
        }
    }
    for (; c + lanes <= cols; c += lanes) {
        const Vec v = load(x + c);
        sum[0] = xsimd::fma(v, v, sum[0]);
    }
    if (c < cols) {
        const Vec v = load_partial(x + c, cols - c);
        sum[1] = xsimd::fma(v, v, sum[1]);
    }
    return reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/// Asks for the row `ahead` elements further on while this one is written: the next sum of squares reads it at once,
/// faster than the hardware fetches ahead.
template <bool prefetch>
float forward_row(const float* x, const float* weight, float* y, std::int64_t cols, double eps,
                  [[maybe_unused]] std::int64_t ahead) {
    const float mean = sum_of_squares(x, cols) / static_cast<float>(cols);
    const float rstd = 1.0f / __builtin_sqrtf(mean + static_cast<float>(eps));
    const Vec scale(rstd);
    std::int64_t c = 0;
#pragma GCC unroll 2
    for (; c + lanes <= cols; c += lanes) {
        if constexpr (prefetch) __builtin_prefetch(x + c + ahead);
        store(y + c, load(x + c) * scale * load(weight + c));
    }
    if (c < cols) {
        const std::int64_t n = cols - c;
        store_partial(y + c, load_partial(x + c, n) * scale * load_partial(weight + c, n), n);
    }
    return rstd;
}

void forward(const RmsNormForwardArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const std::int64_t at = r * args.cols;
        const float rstd = forward_row<true>(args.x + at, args.weight, args.y + at, args.cols, args.eps, 2 * args.cols);
        if (args.rstd != nullptr) args.rstd[r] = rstd;
    }
}

/// What the backward needs of one row; dresidual may be null.
struct Row {
    const float* dy;
    const float* x;
    const float* dresidual;
    float* dx;
    float rstd;
};

/// The sums of `count` rows together, so that dweight is read and written once for all of them. Each row adds to it in
/// order. n <= lanes columns from c on.
template <int count>
inline void add_columns(const Row* rows, const float* weight, float* dweight, std::int64_t c, std::int64_t n,
                        Vec* g_xhat_sum) {
    const auto get = [n](const float* from) { return n == lanes ? load(from) : load_partial(from, n); };
    const Vec gain = get(weight + c);
    Vec weight_sum = get(dweight + c);
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) {
        const Vec dy_xhat = get(rows[i].dy + c) * (get(rows[i].x + c) * Vec(rows[i].rstd));
        g_xhat_sum[i] = xsimd::fma(dy_xhat, gain, g_xhat_sum[i]);
        weight_sum = weight_sum + dy_xhat;
    }
    n == lanes ? store(dweight + c, weight_sum) : store_partial(dweight + c, weight_sum, n);
}

/// dx = rstd (g - xhat mean(g xhat)) [+ dresidual] on n <= lanes columns from c on; `slope` is rstd mean(g xhat).
inline void write_columns(const Row& row, const float* weight, Vec slope, std::int64_t c, std::int64_t n) {
    const auto get = [n](const float* from) { return n == lanes ? load(from) : load_partial(from, n); };
    const Vec g = get(row.dy + c) * get(weight + c);
    Vec dx = xsimd::fma(get(row.x + c), Vec(0.0f) - slope, g) * Vec(row.rstd);
    if (row.dresidual != nullptr) dx = dx + get(row.dresidual + c);
    n == lanes ? store(row.dx + c, dx) : store_partial(row.dx + c, dx, n);
}

template <int count>
void backward_rows(const Row* rows, const float* weight, float* dweight, std::int64_t cols) {
    Vec g_xhat_sum[count];
    for (int i = 0; i < count; ++i) g_xhat_sum[i] = Vec(0.0f);
    std::int64_t c = 0;
    for (; c + lanes <= cols; c += lanes) add_columns<count>(rows, weight, dweight, c, lanes, g_xhat_sum);
    if (c < cols) add_columns<count>(rows, weight, dweight, c, cols - c, g_xhat_sum);
    for (int i = 0; i < count; ++i) {
        const Vec slope(reduce_add(g_xhat_sum[i]) / static_cast<float>(cols) * rows[i].rstd);
        for (c = 0; c + lanes <= cols; c += lanes) write_columns(rows[i], weight, slope, c, lanes);
        if (c < cols) write_columns(rows[i], weight, slope, c, cols - c);
    }
}

/// Rows [begin, end), four at a time; row_at(r) says where each lies.
template <class RowAt>
void backward_range(RowAt row_at, std::int64_t begin, std::int64_t end, const float* weight, float* dweight,
                    std::int64_t cols) {
    constexpr int group = 4;
    std::int64_t r = begin;
    for (; r + group <= end; r += group) {
        const Row rows[group] = {row_at(r), row_at(r + 1), row_at(r + 2), row_at(r + 3)};
        backward_rows<group>(rows, weight, dweight, cols);
    }
    for (; r < end; ++r) {
        const Row row = row_at(r);
        backward_rows<1>(&row, weight, dweight, cols);
    }
}

void zero(float* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = 0;
}

std::int64_t chunk_end(std::int64_t chunk, std::int64_t chunk_rows, std::int64_t rows) {
    return (chunk + 1) * chunk_rows < rows ? (chunk + 1) * chunk_rows : rows;
}

void backward(const RmsNormBackwardArgs<float>& args, std::int64_t chunk_begin, std::int64_t chunks_end) {
    const auto row_at = [&](std::int64_t r) {
        const std::int64_t at = r * args.cols;
        const float* dresidual = args.dresidual == nullptr ? nullptr : args.dresidual + at;
        return Row{args.dy + at, args.x + at, dresidual, args.dx + at, args.rstd[r]};
    };
    for (std::int64_t chunk = chunk_begin; chunk < chunks_end; ++chunk) {
        float* dweight = args.dweight_partial + chunk * args.cols;
        zero(dweight, args.cols);
        backward_range(row_at, chunk * args.chunk_rows, chunk_end(chunk, args.chunk_rows, args.rows), args.weight,
                       dweight, args.cols);
    }
}

/// V is neither normed nor changed by the backward; nothing to do in place.
void copy_values(const float* from, float* to, const QkvRow& row) {
    if (from == to) return;
    for (std::int64_t c = row.normed_heads() * row.head_dim; c < row.width(); ++c) to[c] = from[c];
}

void qk_forward(const QkNormForwardArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    const std::int64_t heads = args.row.normed_heads(), dim = args.row.head_dim;
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const float* x = args.qkv + r * args.row.width();
        float* y = args.y + r * args.row.width();
        for (std::int64_t h = 0; h < heads; ++h) {
            const float* weight = h < args.row.heads ? args.q_weight : args.k_weight;
            const float rstd = forward_row<false>(x + h * dim, weight, y + h * dim, dim, args.eps, 0);
            if (args.rstd != nullptr) args.rstd[r * heads + h] = rstd;
        }
        copy_values(x, y, args.row);
    }
}

void qk_backward(const QkNormBackwardArgs<float>& args, std::int64_t chunk_begin, std::int64_t chunks_end) {
    const std::int64_t heads = args.row.normed_heads(), dim = args.row.head_dim;
    for (std::int64_t chunk = chunk_begin; chunk < chunks_end; ++chunk) {
        float* dweight = args.dweight_partial + chunk * 2 * dim;
        zero(dweight, 2 * dim);
        const std::int64_t end = chunk_end(chunk, args.chunk_rows, args.rows);
        for (std::int64_t r = chunk * args.chunk_rows; r < end; ++r) {
            const std::int64_t at = r * args.row.width();
            const auto row_at = [&](std::int64_t h) {
                const std::int64_t head = at + h * dim;
                return Row{args.dy + head, args.qkv + head, nullptr, args.dqkv + head, args.rstd[r * heads + h]};
            };
            backward_range(row_at, 0, args.row.heads, args.q_weight, dweight, dim);
            backward_range(row_at, args.row.heads, heads, args.k_weight, dweight + dim, dim);
            copy_values(args.dy + at, args.dqkv + at, args.row);
        }
    }
}

}  // namespace

void add_rmsnorm(KernelTable<float>& table) {
    table.rmsnorm.forward = forward;
    table.rmsnorm.backward = backward;
    table.rmsnorm.qk_forward = qk_forward;
    table.rmsnorm.qk_backward = qk_backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
