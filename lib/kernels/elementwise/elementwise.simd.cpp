#include "kernels/elementwise/activate.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// y = f(x...) over [begin, end). Lanes and tail go through the same f, so an element's bits do not depend on where a
/// range begins.
template <class F, class... Inputs>
void map(F f, float* y, std::int64_t begin, std::int64_t end, const Inputs*... x) {
    std::int64_t i = begin;
#pragma GCC unroll 4
    for (; i + lanes <= end; i += lanes) store(y + i, f(load(x + i)...));
    if (i < end) store_partial(y + i, f(load_partial(x + i, end - i)...), end - i);
}

void add(const float* a, const float* b, float* y, std::int64_t begin, std::int64_t end) {
    map([](Vec p, Vec q) { return p + q; }, y, begin, end, a, b);
}

void activation_forward(Activation kind, const float* x, float* y, std::int64_t begin, std::int64_t end) {
    with_activation(kind,
                    [=](auto k) { map([](Vec v) { return activate<decltype(k)::value>(v); }, y, begin, end, x); });
}

void activation_backward(Activation kind, const float* x, const float* dy, float* dx, std::int64_t begin,
                         std::int64_t end) {
    with_activation(kind, [=](auto k) {
        map([](Vec v, Vec d) { return d * activation_slope<decltype(k)::value>(v); }, dx, begin, end, x, dy);
    });
}

void fill(float* y, float value, std::int64_t begin, std::int64_t end) {
    map([value] { return Vec(value); }, y, begin, end);
}

void exp(const float* x, float* y, std::int64_t begin, std::int64_t end) {
    map([](Vec v) { return vexp(v); }, y, begin, end, x);
}

void tanh(const float* x, float* y, std::int64_t begin, std::int64_t end) {
    map([](Vec v) { return vtanh(v); }, y, begin, end, x);
}

void erf(const float* x, float* y, std::int64_t begin, std::int64_t end) {
    map([](Vec v) { return verf(v); }, y, begin, end, x);
}

/// Columns summed side by side in registers: eight vectors are 512 contiguous bytes a row with AVX-512, enough for
/// the prefetchers, and hide the latency of the sums.
constexpr int column_vectors = 8;

void sum_block(const float* x, std::int64_t ld, std::int64_t rows, float* y, bool accumulate) {
    Vec sum[column_vectors];
#pragma GCC unroll 8
    for (int v = 0; v < column_vectors; ++v) sum[v] = Vec(0.0f);
    for (std::int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
        for (int v = 0; v < column_vectors; ++v) sum[v] = sum[v] + load(x + r * ld + v * lanes);
    }
#pragma GCC unroll 8
    for (int v = 0; v < column_vectors; ++v) {
        store(y + v * lanes, accumulate ? load(y + v * lanes) + sum[v] : sum[v]);
    }
}

/// At most one vector of n columns.
void sum_edge(const float* x, std::int64_t ld, std::int64_t rows, float* y, bool accumulate, std::int64_t n) {
    Vec sum(0.0f);
    for (std::int64_t r = 0; r < rows; ++r) sum = sum + load_partial(x + r * ld, n);
    store_partial(y, accumulate ? load_partial(y, n) + sum : sum, n);
}

void column_sums(const float* x, std::int64_t ld, std::int64_t rows, float* y, bool accumulate, std::int64_t col_begin,
                 std::int64_t col_end) {
    constexpr std::int64_t block = column_vectors * lanes;
    std::int64_t c = col_begin;
    for (; c + block <= col_end; c += block) sum_block(x + c, ld, rows, y + c, accumulate);
    for (; c < col_end; c += lanes) {
        sum_edge(x + c, ld, rows, y + c, accumulate, col_end - c < lanes ? col_end - c : lanes);
    }
}

}  // namespace

void add_elementwise(KernelTable<float>& table) {
    table.elementwise.add = add;
    table.elementwise.activation_forward = activation_forward;
    table.elementwise.activation_backward = activation_backward;
    table.elementwise.fill = fill;
    table.elementwise.exp = exp;
    table.elementwise.tanh = tanh;
    table.elementwise.erf = erf;
    table.elementwise.column_sums = column_sums;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
