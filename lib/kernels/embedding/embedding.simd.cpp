#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// y[0, n) = a + b; y may be a.
void add_row(const float* a, const float* b, float* y, std::int64_t n) {
    std::int64_t c = 0;
    for (; c + lanes <= n; c += lanes) store(y + c, load(a + c) + load(b + c));
    if (c < n) store_partial(y + c, load_partial(a + c, n - c) + load_partial(b + c, n - c), n - c);
}

void forward(const std::int32_t* tokens, const float* table, float* y, std::int64_t dim, std::int64_t row_begin,
             std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const float* from = table + tokens[r] * dim;
        float* to = y + r * dim;
        std::int64_t c = 0;
        for (; c + lanes <= dim; c += lanes) store(to + c, load(from + c));
        if (c < dim) store_partial(to + c, load_partial(from + c, dim - c), dim - c);
    }
}

void backward(const std::int32_t* tokens, const float* dy, float* dtable, std::int64_t rows, std::int64_t dim,
              std::int64_t col_begin, std::int64_t col_end) {
    for (std::int64_t r = 0; r < rows; ++r) {
        float* gradient = dtable + tokens[r] * dim + col_begin;
        add_row(gradient, dy + r * dim + col_begin, gradient, col_end - col_begin);
    }
}

void positions_forward(const float* x, const float* table, float* y, std::int64_t seq_len, std::int64_t dim,
                       std::int64_t first_position, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        add_row(x + r * dim, table + (first_position + r % seq_len) * dim, y + r * dim, dim);
    }
}

/// n <= lanes columns of one position, summed over the batch.
Vec sum_over_batch(const float* dy, std::int64_t batch, std::int64_t stride, std::int64_t n) {
    Vec sum(0.0f);
    for (std::int64_t b = 0; b < batch; ++b) {
        sum = sum + (n == lanes ? load(dy + b * stride) : load_partial(dy + b * stride, n));
    }
    return sum;
}

void positions_backward(const float* dy, float* dtable, std::int64_t batch, std::int64_t seq_len, std::int64_t dim,
                        bool accumulate, std::int64_t t_begin, std::int64_t t_end) {
    const std::int64_t stride = seq_len * dim;
    for (std::int64_t t = t_begin; t < t_end; ++t) {
        for (std::int64_t c = 0; c < dim; c += lanes) {
            const std::int64_t n = dim - c < lanes ? dim - c : lanes;
            const Vec sum = sum_over_batch(dy + t * dim + c, batch, stride, n);
            float* gradient = dtable + t * dim + c;
            store_partial(gradient, accumulate ? load_partial(gradient, n) + sum : sum, n);
        }
    }
}

}  // namespace

void add_embedding(KernelTable<float>& table) {
    table.embedding.forward = forward;
    table.embedding.backward = backward;
    table.embedding.positions_forward = positions_forward;
    table.embedding.positions_backward = positions_backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
