#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Table look-ups and their transposes. Token ids are inside the table: callers check them before a step runs.
template <class T>
struct EmbeddingKernels {
    /// y[r] = table[tokens[r]] for rows r in [row_begin, row_end). table (V,D), y (rows,D).
    void (*forward)(const std::int32_t* tokens, const T* table, T* y, std::int64_t dim, std::int64_t row_begin,
                    std::int64_t row_end);
    /// dtable[tokens[r]] += dy[r] for all rows in order, columns [col_begin, col_end) only: split over columns, the sum
    /// of repeated tokens has a fixed order. dy (rows,D), dtable (V,D).
    void (*backward)(const std::int32_t* tokens, const T* dy, T* dtable, std::int64_t rows, std::int64_t dim,
                     std::int64_t col_begin, std::int64_t col_end);
    /// y[r] = x[r] + table[first_position + r % seq_len] for rows [row_begin, row_end). x, y (B*T,D) (may be the same),
    /// table (P,D).
    void (*positions_forward)(const T* x, const T* table, T* y, std::int64_t seq_len, std::int64_t dim,
                              std::int64_t first_position, std::int64_t row_begin, std::int64_t row_end);
    /// dtable[t] = (or += when accumulate) sum over b of dy[b, t], t in [t_begin, t_end). dy (B,T,D), dtable (P,D).
    void (*positions_backward)(const T* dy, T* dtable, std::int64_t batch, std::int64_t seq_len, std::int64_t dim,
                               bool accumulate, std::int64_t t_begin, std::int64_t t_end);
};

}  // namespace causeway::kernels
