#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.hpp"  // Activation

namespace causeway::kernels {

/// The middle of a gated MLP, y = activation(gate) up (Shazeer 2020: "GLU Variants Improve Transformer"). gate_up is
/// (rows, 2F): the gate in the first F columns, up in the others; y and dy are (rows, F). Nothing overlaps, but where
/// stated.
template <class T>
struct GatedKernels {
    void (*forward)(Activation kind, const T* gate_up, T* y, std::int64_t features, std::int64_t row_begin,
                    std::int64_t row_end);
    /// dgate = dy up activation'(gate), dup = dy activation(gate). dgate_up (rows, 2F) may be gate_up.
    void (*backward)(Activation kind, const T* gate_up, const T* dy, T* dgate_up, std::int64_t features,
                     std::int64_t row_begin, std::int64_t row_end);
};

}  // namespace causeway::kernels
