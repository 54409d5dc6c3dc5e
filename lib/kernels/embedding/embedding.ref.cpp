#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void forward(const std::int32_t* tokens, const T* table, T* y, std::int64_t dim, std::int64_t row_begin,
             std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        for (std::int64_t c = 0; c < dim; ++c) y[r * dim + c] = table[tokens[r] * dim + c];
    }
}

template <class T>
void backward(const std::int32_t* tokens, const T* dy, T* dtable, std::int64_t rows, std::int64_t dim,
              std::int64_t col_begin, std::int64_t col_end) {
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = col_begin; c < col_end; ++c) dtable[tokens[r] * dim + c] += dy[r * dim + c];
    }
}

template <class T>
void positions_forward(const T* x, const T* table, T* y, std::int64_t seq_len, std::int64_t dim,
                       std::int64_t first_position, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* position = table + (first_position + r % seq_len) * dim;
        for (std::int64_t c = 0; c < dim; ++c) y[r * dim + c] = x[r * dim + c] + position[c];
    }
}

template <class T>
void positions_backward(const T* dy, T* dtable, std::int64_t batch, std::int64_t seq_len, std::int64_t dim,
                        bool accumulate, std::int64_t t_begin, std::int64_t t_end) {
    for (std::int64_t t = t_begin; t < t_end; ++t) {
        for (std::int64_t c = 0; c < dim; ++c) {
            T sum = 0;
            for (std::int64_t b = 0; b < batch; ++b) sum += dy[(b * seq_len + t) * dim + c];
            dtable[t * dim + c] = accumulate ? dtable[t * dim + c] + sum : sum;
        }
    }
}

}  // namespace

template <class T>
void add_embedding(KernelTable<T>& table) {
    table.embedding.forward = forward<T>;
    table.embedding.backward = backward<T>;
    table.embedding.positions_forward = positions_forward<T>;
    table.embedding.positions_backward = positions_backward<T>;
}
template void add_embedding(KernelTable<float>& table);
template void add_embedding(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
