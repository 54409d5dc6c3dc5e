#include "kernels/elementwise/activate.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

template <Activation kind>
void forward_row(const float* gate, const float* up, float* y, std::int64_t features) {
    std::int64_t c = 0;
#pragma GCC unroll 4
    for (; c + lanes <= features; c += lanes) store(y + c, activate<kind>(load(gate + c)) * load(up + c));
    if (c < features) {
        const std::int64_t n = features - c;
        store_partial(y + c, activate<kind>(load_partial(gate + c, n)) * load_partial(up + c, n), n);
    }
}

void forward(Activation kind, const float* gate_up, float* y, std::int64_t features, std::int64_t row_begin,
             std::int64_t row_end) {
    with_activation(kind, [=](auto k) {
        for (std::int64_t r = row_begin; r < row_end; ++r) {
            const float* gate = gate_up + r * 2 * features;
            forward_row<decltype(k)::value>(gate, gate + features, y + r * features, features);
        }
    });
}

/// One row: its gate and up, where their gradients go, and dy.
struct BackwardRow {
    const float* gate;
    const float* dy;
    float* dgate;
    std::int64_t features;
};

/// n <= lanes columns from c on; everything is read before anything is written.
template <Activation kind, bool whole>
inline void backward_columns(const BackwardRow& row, std::int64_t c, std::int64_t n) {
    const auto get = [n](const float* from) { return whole ? load(from) : load_partial(from, n); };
    const auto put = [n](float* to, Vec x) { whole ? store(to, x) : store_partial(to, x, n); };
    const Vec up = get(row.gate + row.features + c);
    const Vec dy = get(row.dy + c);
    const ValueAndSlope gate = activate_with_slope<kind>(get(row.gate + c));
    put(row.dgate + c, dy * up * gate.slope);
    put(row.dgate + row.features + c, dy * gate.value);
}

template <Activation kind>
void backward_row(const BackwardRow& row) {
    std::int64_t c = 0;
#pragma GCC unroll 2
    for (; c + lanes <= row.features; c += lanes) backward_columns<kind, true>(row, c, lanes);
    if (c < row.features) backward_columns<kind, false>(row, c, row.features - c);
}

void backward(Activation kind, const float* gate_up, const float* dy, float* dgate_up, std::int64_t features,
              std::int64_t row_begin, std::int64_t row_end) {
    with_activation(kind, [=](auto k) {
        for (std::int64_t r = row_begin; r < row_end; ++r) {
            const std::int64_t at = r * 2 * features;
            backward_row<decltype(k)::value>({gate_up + at, dy + r * features, dgate_up + at, features});
        }
    });
}

}  // namespace

void add_gated(KernelTable<float>& table) {
    table.gated.forward = forward;
    table.gated.backward = backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
