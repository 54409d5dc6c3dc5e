#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"

namespace causeway {

/// What a table of rotations is made of: cos(p f_i) and sin(p f_i), both times `scale`.
struct RopeFrequencies {
    std::vector<double> frequencies;  ///< radians a position, of each of the head_dim / 2 pairs
    double scale = 1;                 ///< other than 1 with yarn only
};

/// f_i = theta^(-2i/head_dim) (Su et al. 2021), changed for contexts longer than the trained one as transformers does:
///   linear   f_i / factor (Chen et al. 2023: "Extending Context Window of Large Language Models via Positional
///            Interpolation")
///   dynamic  theta times (factor L / O - (factor - 1))^(d/(d-2)) when L, the length, exceeds O (NTK-aware scaling)
///   llama3   f_i / factor for wavelengths above O / low_freq_factor, f_i below O / high_freq_factor, between them a
///            blend (Llama 3.1)
///   yarn     f_i / factor blended with f_i by how often a pair turns within O, and the table times attention_factor
///            (Peng et al. 2023: "YaRN")
/// O is rope.original_max_position_embeddings, or max_positions when that is 0. O(head_dim).
RopeFrequencies rope_frequencies(const RopeConfig& rope, std::int64_t head_dim, std::int64_t max_positions,
                                 std::int64_t length);

}  // namespace causeway
