#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// Sums kept side by side, so that additions do not wait for each other.
constexpr int unroll = 4;

struct Sums {
    Vec part[unroll] = {Vec(0.0f), Vec(0.0f), Vec(0.0f), Vec(0.0f)};
    float total() const { return reduce_add((part[0] + part[1]) + (part[2] + part[3])); }
};

struct Moments {
    float sum, squares;
};

/// Sums of x - origin and of its square.
Moments moments_about(const float* x, std::int64_t cols, float origin) {
    const Vec o(origin);
    Sums sums, squares;
    const auto add = [&](Vec value, int u) {
        const Vec d = value - o;
        sums.part[u] = sums.part[u] + d;
        squares.part[u] = xsimd::fma(d, d, squares.part[u]);
    };
    std::int64_t c = 0;
    for (; c + unroll * lanes <= cols; c += unroll * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < unroll; ++u) add(load(x + c + u * lanes), u);
    }
    for (; c + lanes <= cols; c += lanes) add(load(x + c), 0);
    if (c < cols) add(load_partial(x + c, cols - c, origin), 1);
    return {sums.total(), squares.total()};
}

struct Statistics {
    float mean, variance;
};

/// One pass about the row's first element, which is as good as two when that lies within a few deviations of the mean;
/// a second pass about the mean when not. The mean of a constant row is exact, and so its output exactly the bias.
Statistics statistics_of(const float* x, std::int64_t cols) {
    const auto count = static_cast<float>(cols);
    const Moments first = moments_about(x, cols, x[0]);
    const float offset = first.sum / count;
    const float mean = x[0] + offset;
    const float squares = first.squares - first.sum * offset;
    // At most three of the 24 bits are lost to the subtraction.
    if (squares * 8 >= first.squares) return {mean, squares / count};
    return {mean, moments_about(x, cols, mean).squares / count};
}

/// Asks for the row after next: the statistics of a row read it at once, faster than the hardware fetches ahead.
void prefetch_ahead(const float* x, std::int64_t cols) { __builtin_prefetch(x + 2 * cols); }

void normalize_row(const float* x, const LayerNormForwardArgs<float>& args, float mean, float rstd, float* y) {
    const std::int64_t cols = args.cols;
    const Vec m(mean);
    const Vec scale(rstd);
    std::int64_t c = 0;
    if (args.bias != nullptr) {
#pragma GCC unroll 2
        for (; c + lanes <= cols; c += lanes) {
            prefetch_ahead(x + c, cols);
            store(y + c, xsimd::fma((load(x + c) - m) * scale, load(args.weight + c), load(args.bias + c)));
        }
    } else {
#pragma GCC unroll 2
        for (; c + lanes <= cols; c += lanes) {
            prefetch_ahead(x + c, cols);
            store(y + c, (load(x + c) - m) * scale * load(args.weight + c));
        }
    }
    if (c < cols) {
        const std::int64_t n = cols - c;
        const Vec bias = args.bias == nullptr ? Vec(0.0f) : load_partial(args.bias + c, n);
        const Vec xhat = (load_partial(x + c, n) - m) * scale;
        store_partial(y + c, xsimd::fma(xhat, load_partial(args.weight + c, n), bias), n);
    }
}

void forward(const LayerNormForwardArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const float* x = args.x + r * args.cols;
        const auto [mean, variance] = statistics_of(x, args.cols);
        const float rstd = 1.0f / __builtin_sqrtf(variance + static_cast<float>(args.eps));
        normalize_row(x, args, mean, rstd, args.y + r * args.cols);
        if (args.mean != nullptr) {
            args.mean[r] = mean;
            args.rstd[r] = rstd;
        }
    }
}

/// What the backward needs of one row.
struct Row {
    const float* dy;
    const float* x;
    const float* dresidual;
    float* dx;
    float mean, rstd;
    float g_mean = 0, g_xhat_mean = 0;
};

Row row_of(const LayerNormBackwardArgs<float>& args, std::int64_t r) {
    const std::int64_t at = r * args.cols;
    const float* dresidual = args.dresidual == nullptr ? nullptr : args.dresidual + at;
    return {args.dy + at, args.x + at, dresidual, args.dx + at, args.mean[r], args.rstd[r]};
}

/// The sums of `count` rows together, so that dweight and dbias are read and written once for all of them. Each row
/// adds to them in order. n <= lanes columns from c on.
template <int count>
void add_columns(const LayerNormBackwardArgs<float>& args, const Row* rows, float* dweight, float* dbias,
                 std::int64_t c, std::int64_t n, Vec* g_sum, Vec* g_xhat_sum) {
    const auto get = [n](const float* from) { return n == lanes ? load(from) : load_partial(from, n); };
    const auto put = [n](float* to, Vec value) { n == lanes ? store(to, value) : store_partial(to, value, n); };
    const Vec weight = get(args.weight + c);
    Vec weight_sum = get(dweight + c);
    Vec bias_sum = dbias == nullptr ? Vec(0.0f) : get(dbias + c);
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) {
        const Vec dy = get(rows[i].dy + c);
        const Vec xhat = (get(rows[i].x + c) - Vec(rows[i].mean)) * Vec(rows[i].rstd);
        const Vec g = dy * weight;
        g_sum[i] = g_sum[i] + g;
        g_xhat_sum[i] = xsimd::fma(g, xhat, g_xhat_sum[i]);
        weight_sum = xsimd::fma(dy, xhat, weight_sum);
        bias_sum = bias_sum + dy;
    }
    put(dweight + c, weight_sum);
    if (dbias != nullptr) put(dbias + c, bias_sum);
}

/// dx = rstd (g - mean(g) - xhat mean(g xhat)) [+ dresidual] on n <= lanes columns from c on.
void write_columns(const LayerNormBackwardArgs<float>& args, const Row& row, std::int64_t c, std::int64_t n) {
    const auto get = [n](const float* from) { return n == lanes ? load(from) : load_partial(from, n); };
    const Vec xhat = (get(row.x + c) - Vec(row.mean)) * Vec(row.rstd);
    const Vec centred = xsimd::fma(get(row.dy + c), get(args.weight + c), Vec(-row.g_mean));
    Vec dx = xsimd::fma(xhat, Vec(-row.g_xhat_mean), centred) * Vec(row.rstd);
    if (row.dresidual != nullptr) dx = dx + get(row.dresidual + c);
    n == lanes ? store(row.dx + c, dx) : store_partial(row.dx + c, dx, n);
}

template <int count>
void backward_rows(const LayerNormBackwardArgs<float>& args, std::int64_t first_row, float* dweight, float* dbias) {
    Row rows[count];
    Vec g_sum[count];
    Vec g_xhat_sum[count];
    for (int i = 0; i < count; ++i) {
        rows[i] = row_of(args, first_row + i);
        g_sum[i] = Vec(0.0f);
        g_xhat_sum[i] = Vec(0.0f);
    }
    std::int64_t c = 0;
    for (; c + lanes <= args.cols; c += lanes) {
        add_columns<count>(args, rows, dweight, dbias, c, lanes, g_sum, g_xhat_sum);
    }
    if (c < args.cols) add_columns<count>(args, rows, dweight, dbias, c, args.cols - c, g_sum, g_xhat_sum);
    for (int i = 0; i < count; ++i) {
        rows[i].g_mean = reduce_add(g_sum[i]) / static_cast<float>(args.cols);
        rows[i].g_xhat_mean = reduce_add(g_xhat_sum[i]) / static_cast<float>(args.cols);
        for (c = 0; c + lanes <= args.cols; c += lanes) write_columns(args, rows[i], c, lanes);
        if (c < args.cols) write_columns(args, rows[i], c, args.cols - c);
    }
}

void zero(float* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = 0;
}

void backward(const LayerNormBackwardArgs<float>& args, std::int64_t chunk_begin, std::int64_t chunk_end) {
    constexpr int group = 4;
    for (std::int64_t chunk = chunk_begin; chunk < chunk_end; ++chunk) {
        float* dweight = args.dweight_partial + chunk * args.cols;
        float* dbias = args.dbias_partial == nullptr ? nullptr : args.dbias_partial + chunk * args.cols;
        zero(dweight, args.cols);
        if (dbias != nullptr) zero(dbias, args.cols);
        const std::int64_t limit = (chunk + 1) * args.chunk_rows;
        const std::int64_t end = limit < args.rows ? limit : args.rows;
        std::int64_t r = chunk * args.chunk_rows;
        for (; r + group <= end; r += group) backward_rows<group>(args, r, dweight, dbias);
        for (; r < end; ++r) backward_rows<1>(args, r, dweight, dbias);
    }
}

}  // namespace

void add_layernorm(KernelTable<float>& table) {
    table.norm.layernorm_forward = forward;
    table.norm.layernorm_backward = backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
