#pragma once

#include <cstdint>
#include <span>

#include "config/config.hpp"
#include "inspect/attention_maps.hpp"
#include "io/run_folder.hpp"

namespace causeway {

/// The attention weights of a trained run on one sequence of tokens (T). `config` is that of the run, see load_run.
/// Throws IoError for its parameters, DataError for ids outside the vocabulary or more than the context holds.
/// `mask` hides keys beside those that the model hides; GraphError when it does not fit.
AttentionMaps run_attention(const RunFolder& run, const Config& config, std::span<const std::int32_t> ids,
                            const std::optional<AttentionMask>& mask = std::nullopt);

}  // namespace causeway
