#include "kernels/arch.hpp"
#include "kernels/attention/softmax_row.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// to = factor * from; to may be from.
void scaled_copy(const float* from, float factor, float* to, std::int64_t cols) {
    std::int64_t c = 0;
    for (; c + lanes <= cols; c += lanes) store(to + c, load(from + c) * Vec(factor));
    if (c < cols) store_partial(to + c, load_partial(from + c, cols - c) * Vec(factor), cols - c);
}

void gather(const Permutation& permutation, const float* x, float* rows, std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t token = permutation.order[s] / permutation.choices;
        scaled_copy(x + token * permutation.cols, 1.0f, rows + s * permutation.cols, permutation.cols);
    }
}

/// n <= lanes columns of a token from c on.
inline void combine_columns(const Permutation& permutation, const float* rows, const float* weights, std::int64_t token,
                            float* y, std::int64_t c, std::int64_t n) {
    const std::int64_t first = token * permutation.choices;
    Vec sum(0.0f);
    for (std::int64_t pair = first; pair < first + permutation.choices; ++pair) {
        const float* row = rows + permutation.slots[pair] * permutation.cols + c;
        const Vec weight(weights ? weights[pair] : 1.0f);
        sum = xsimd::fma(weight, n == lanes ? load(row) : load_partial(row, n), sum);
    }
    float* to = y + token * permutation.cols + c;
    n == lanes ? store(to, sum) : store_partial(to, sum, n);
}

void combine(const Permutation& permutation, const float* rows, const float* weights, float* y, std::int64_t begin,
             std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
        std::int64_t c = 0;
        for (; c + lanes <= permutation.cols; c += lanes) {
            combine_columns(permutation, rows, weights, t, y, c, lanes);
        }
        if (c < permutation.cols) combine_columns(permutation, rows, weights, t, y, c, permutation.cols - c);
    }
}

void combine_backward(const Permutation& permutation, const float* rows, const float* weights, const float* dy,
                      float* drows, float* dweights, std::int64_t begin, std::int64_t end) {
    const std::int64_t cols = permutation.cols;
    for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t pair = permutation.order[s];
        const float* dy_row = dy + pair / permutation.choices * cols;
        dweights[pair] = row_dot(dy_row, rows + s * cols, cols);
        scaled_copy(dy_row, weights[pair], drows + s * cols, cols);
    }
}

}  // namespace

void add_permute(KernelTable<float>& table) {
    table.permute.gather = gather;
    table.permute.combine = combine;
    table.permute.combine_backward = combine_backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
