#pragma once

#include <map>
#include <span>
#include <string>

#include "io/checkpoint/layout.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// Writes parameters, or what has their names and shapes such as gradients, as one safetensors file in a layout: each
/// value times `scale`, as f32 or bf16 (rounded to nearest, ties to even). A tied tensor is written once. Atomic.
/// Throws IoError for a parameter the layout has no name for, and for what the system refuses.
void save_checkpoint(const std::string& path, const CheckpointLayout& layout, std::span<const NamedTensor> parameters,
                     DType dtype = DType::f32, double scale = 1.0);

}  // namespace causeway
