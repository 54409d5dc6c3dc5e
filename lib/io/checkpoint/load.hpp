#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/checkpoint/layout.hpp"
#include "io/checkpoint/stored_tensors.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// Fills a model's parameters (f32 or f64) from a checkpoint in F32, F64, F16 or BF16. Returns the names of tensors in
/// it that the model has no use for. Throws IoError with one table of every tensor that is missing, has another shape
/// or dtype, or is not expected, NumericError for a NaN or an infinity; nothing is written then.
std::vector<std::string> load_checkpoint(const StoredTensors& tensors, const CheckpointLayout& layout,
                                         std::span<const NamedTensor> parameters);

/// The same from what `path` names (see StoredTensors::open), in the layout that its names show.
std::vector<std::string> load_parameters(const std::string& path, const ModelConfig& model,
                                         std::span<const NamedTensor> parameters);

}  // namespace causeway
