#include <cmath>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void forward(const LayerNormForwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    const auto count = static_cast<T>(args.cols);
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* x = args.x + r * args.cols;
        T* y = args.y + r * args.cols;
        // Deviations from the first element: the mean of a constant row is exact, and its output exactly the bias.
        T sum = 0;
        for (std::int64_t c = 0; c < args.cols; ++c) sum += x[c] - x[0];
        const T mean = x[0] + sum / count;
        T squares = 0;
        for (std::int64_t c = 0; c < args.cols; ++c) squares += (x[c] - mean) * (x[c] - mean);
        const T rstd = T{1} / std::sqrt(squares / count + static_cast<T>(args.eps));
        for (std::int64_t c = 0; c < args.cols; ++c) {
            y[c] = (x[c] - mean) * rstd * args.weight[c] + (args.bias == nullptr ? T{0} : args.bias[c]);
        }
        if (args.mean != nullptr) {
            args.mean[r] = mean;
            args.rstd[r] = rstd;
        }
    }
}

template <class T>
void backward_row(const LayerNormBackwardArgs<T>& args, std::int64_t r, T* dweight, T* dbias) {
    const T* dy = args.dy + r * args.cols;
    const T* x = args.x + r * args.cols;
    const T* dresidual = args.dresidual == nullptr ? nullptr : args.dresidual + r * args.cols;
    T* dx = args.dx + r * args.cols;
    const T mean = args.mean[r];
    const T rstd = args.rstd[r];
    T g_sum = 0;
    T g_xhat_sum = 0;
    for (std::int64_t c = 0; c < args.cols; ++c) {
        const T xhat = (x[c] - mean) * rstd;
        const T g = dy[c] * args.weight[c];
        g_sum += g;
        g_xhat_sum += g * xhat;
        dweight[c] += dy[c] * xhat;
        if (dbias != nullptr) dbias[c] += dy[c];
    }
    const auto count = static_cast<T>(args.cols);
    for (std::int64_t c = 0; c < args.cols; ++c) {
        const T xhat = (x[c] - mean) * rstd;
        const T g = dy[c] * args.weight[c];
        dx[c] = rstd * (g - g_sum / count - xhat * (g_xhat_sum / count)) + (dresidual == nullptr ? T{0} : dresidual[c]);
    }
}

template <class T>
void backward(const LayerNormBackwardArgs<T>& args, std::int64_t chunk_begin, std::int64_t chunk_end) {
    for (std::int64_t chunk = chunk_begin; chunk < chunk_end; ++chunk) {
        T* dweight = args.dweight_partial + chunk * args.cols;
        T* dbias = args.dbias_partial == nullptr ? nullptr : args.dbias_partial + chunk * args.cols;
        for (std::int64_t c = 0; c < args.cols; ++c) {
            dweight[c] = 0;
            if (dbias != nullptr) dbias[c] = 0;
        }
        const std::int64_t end = (chunk + 1) * args.chunk_rows < args.rows ? (chunk + 1) * args.chunk_rows : args.rows;
        for (std::int64_t r = chunk * args.chunk_rows; r < end; ++r) backward_row(args, r, dweight, dbias);
    }
}

}  // namespace

template <class T>
void add_layernorm(KernelTable<T>& table) {
    table.norm.layernorm_forward = forward<T>;
    table.norm.layernorm_backward = backward<T>;
}
template void add_layernorm(KernelTable<float>& table);
template void add_layernorm(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
