#include <cmath>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
T forward_row(const T* x, const T* weight, T* y, std::int64_t cols, double eps) {
    T squares = 0;
    for (std::int64_t c = 0; c < cols; ++c) squares += x[c] * x[c];
    const T rstd = T{1} / std::sqrt(squares / static_cast<T>(cols) + static_cast<T>(eps));
    for (std::int64_t c = 0; c < cols; ++c) y[c] = x[c] * rstd * weight[c];
    return rstd;
}

template <class T>
void forward(const RmsNormForwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const std::int64_t at = r * args.cols;
        const T rstd = forward_row(args.x + at, args.weight, args.y + at, args.cols, args.eps);
        if (args.rstd != nullptr) args.rstd[r] = rstd;
    }
}

/// One row of the backward; dresidual may be null.
template <class T>
struct Row {
    const T* dy;
    const T* x;
    const T* dresidual;
    T* dx;
    T rstd;
};

template <class T>
void backward_row(const Row<T>& row, const T* weight, T* dweight, std::int64_t cols) {
    T sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
        const T xhat = row.x[c] * row.rstd;
        sum += row.dy[c] * weight[c] * xhat;
        dweight[c] += row.dy[c] * xhat;
    }
    for (std::int64_t c = 0; c < cols; ++c) {
        const T xhat = row.x[c] * row.rstd;
        const T residual = row.dresidual == nullptr ? T{0} : row.dresidual[c];
        row.dx[c] = row.rstd * (row.dy[c] * weight[c] - xhat * (sum / static_cast<T>(cols))) + residual;
    }
}

std::int64_t chunk_end(std::int64_t chunk, std::int64_t chunk_rows, std::int64_t rows) {
    return (chunk + 1) * chunk_rows < rows ? (chunk + 1) * chunk_rows : rows;
}

template <class T>
void backward(const RmsNormBackwardArgs<T>& args, std::int64_t chunk_begin, std::int64_t chunks_end) {
    for (std::int64_t chunk = chunk_begin; chunk < chunks_end; ++chunk) {
        T* dweight = args.dweight_partial + chunk * args.cols;
        for (std::int64_t c = 0; c < args.cols; ++c) dweight[c] = 0;
        const std::int64_t end = chunk_end(chunk, args.chunk_rows, args.rows);
        for (std::int64_t r = chunk * args.chunk_rows; r < end; ++r) {
            const std::int64_t at = r * args.cols;
            const T* dresidual = args.dresidual == nullptr ? nullptr : args.dresidual + at;
            backward_row<T>({args.dy + at, args.x + at, dresidual, args.dx + at, args.rstd[r]}, args.weight, dweight,
                            args.cols);
        }
    }
}

/// V is neither normed nor changed by the backward.
template <class T>
void copy_values(const T* from, T* to, const QkvRow& row) {
    for (std::int64_t c = row.normed_heads() * row.head_dim; c < row.width(); ++c) to[c] = from[c];
}

template <class T>
void qk_forward(const QkNormForwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    const std::int64_t heads = args.row.normed_heads(), dim = args.row.head_dim;
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* x = args.qkv + r * args.row.width();
        T* y = args.y + r * args.row.width();
        for (std::int64_t h = 0; h < heads; ++h) {
            const T* weight = h < args.row.heads ? args.q_weight : args.k_weight;
            const T rstd = forward_row(x + h * dim, weight, y + h * dim, dim, args.eps);
            if (args.rstd != nullptr) args.rstd[r * heads + h] = rstd;
        }
        copy_values(x, y, args.row);
    }
}

template <class T>
void qk_backward(const QkNormBackwardArgs<T>& args, std::int64_t chunk_begin, std::int64_t chunks_end) {
    const std::int64_t heads = args.row.normed_heads(), dim = args.row.head_dim;
    for (std::int64_t chunk = chunk_begin; chunk < chunks_end; ++chunk) {
        T* dweight = args.dweight_partial + chunk * 2 * dim;
        for (std::int64_t c = 0; c < 2 * dim; ++c) dweight[c] = 0;
        const std::int64_t end = chunk_end(chunk, args.chunk_rows, args.rows);
        for (std::int64_t r = chunk * args.chunk_rows; r < end; ++r) {
            const std::int64_t at = r * args.row.width();
            for (std::int64_t h = 0; h < heads; ++h) {
                const bool query = h < args.row.heads;
                const std::int64_t head = at + h * dim;
                backward_row<T>({args.dy + head, args.qkv + head, nullptr, args.dqkv + head, args.rstd[r * heads + h]},
                                query ? args.q_weight : args.k_weight, query ? dweight : dweight + dim, dim);
            }
            copy_values(args.dy + at, args.dqkv + at, args.row);
        }
    }
}

}  // namespace

template <class T>
void add_rmsnorm(KernelTable<T>& table) {
    table.rmsnorm.forward = forward<T>;
    table.rmsnorm.backward = backward<T>;
    table.rmsnorm.qk_forward = qk_forward<T>;
    table.rmsnorm.qk_backward = qk_backward<T>;
}
template void add_rmsnorm(KernelTable<float>& table);
template void add_rmsnorm(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
