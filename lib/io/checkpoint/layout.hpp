#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "io/checkpoint/stored_tensors.hpp"
#include "tensor/shape.hpp"

namespace causeway {

/// A block of a parameter that is a tensor of its own in a checkpoint.
struct Piece {
    /// What the tensor may be called; the first one is what it is written as. Where a checkpoint has several of them,
    /// as with tied weights, they must be the same.
    std::vector<std::string> names;
    std::int64_t offset = 0;  ///< of its first element in the parameter
    std::int64_t rows = 0, cols = 0;
    bool transposed = false;  ///< stored (cols, rows)
    bool is_vector = false;   ///< stored with one dimension; then rows is 1
    /// As it is stored, where that has more than two dimensions; rows and cols are then those of one matrix of it all.
    std::vector<std::int64_t> extents = {};

    std::vector<std::int64_t> stored_shape() const;
};

/// How a checkpoint names and cuts the parameters of a model. Causeway's own names, and what they hold, are those of
/// lib/model: q, k and v are rows of one matrix, gate and up too, experts one tensor.
struct CheckpointLayout {
    std::string name;  ///< for people
    /// The pieces of the parameter of that name and shape, which cover it. Nothing for a parameter the layout has no
    /// name for.
    std::function<std::vector<Piece>(const std::string& parameter, const Shape& shape)> pieces;
    /// Tensors that checkpoints hold without need: masks and tables that follow from the config.
    std::function<bool(std::string_view tensor)> is_buffer;
};

/// A run's: every parameter under its own name.
CheckpointLayout causeway_layout(const ModelConfig& model);
/// HuggingFace's GPT-2, whose Conv1D weights are (in, out), and nanoGPT's, which has the same names and weights
/// (out, in). `prefix` is "transformer." or nothing.
CheckpointLayout gpt2_layout(const ModelConfig& model, const std::string& prefix, bool transposed);
/// Llama's, Qwen3's, Qwen3-MoE's and MiniMind's. `prefix` is "model." or nothing.
CheckpointLayout llama_layout(const ModelConfig& model, const std::string& prefix);

/// The layout that a checkpoint's names show.
CheckpointLayout layout_of(const StoredTensors& tensors, const ModelConfig& model);
/// The layout that transformers expects of the model, see config::hf_config.
CheckpointLayout hf_layout(const ModelConfig& model);

}  // namespace causeway
