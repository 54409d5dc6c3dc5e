#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "exec/model_runtime.hpp"
#include "inspect/attention_mask.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// The attention weights of every layer and head for a batch of sequences.
struct AttentionMaps {
    std::int64_t layers = 0, batch = 0, heads = 0, length = 0;
    std::vector<float> weights;  ///< (L,B,H,T,T): how much query t looks at key s; each row sums to 1, or to 0 when it
                                 ///< sees no key
    bool causal = true;          ///< nothing looks at what follows
    std::int64_t window = 0;     ///< the model's sliding window; 0: none

    /// How many keys the model lets query t see; a mask may hide some of them.
    std::int64_t visible_keys(std::int64_t t) const;

    /// (T,T) of one layer, sequence and head. Throws DataError, naming the index and the range, when there is no such.
    std::span<const float> map(std::int64_t layer, std::int64_t sequence, std::int64_t head) const;
};

/// Runs a model with the explicit attention path, which keeps its weights.
class AttentionInspector {
  public:
    /// Compiles the model for `batch` sequences of `length` tokens. Parameters are zero until the caller fills
    /// runtime().parameters() and calls runtime().refresh(), or runtime().initialize(seed).
    /// `mask` hides keys beside those that the model hides. Throws DataError when length is 0 or exceeds the model's
    /// context, GraphError when the mask does not fit.
    AttentionInspector(const Config& config, std::int64_t batch, std::int64_t length,
                       const std::optional<AttentionMask>& mask = std::nullopt);

    ModelRuntime& runtime() { return runtime_; }
    /// ids: (B,T). Throws DataError for another number of ids or one outside the vocabulary.
    AttentionMaps run(std::span<const std::int32_t> ids);

  private:
    Config config_;
    std::int64_t batch_, length_;
    std::optional<AttentionMask> mask_;
    ModelRuntime runtime_;
};

/// How tokens are called in a picture: by their text, with the invisible characters as symbols (space U+2423, newline
/// U+23CE, tab U+21E5) and other bytes as two hex digits; without a tokenizer as numbers.
std::vector<std::string> token_labels(const Tokenizer* tokenizer, std::span<const std::int32_t> ids);

/// The weights of one (T,T) map as text: a line a query, labelled at its left, one glyph a key of " .:-=+*#%@",
/// index floor(10 w) held within 0..9.
std::string heatmap_text(std::span<const float> map, const std::vector<std::string>& labels);

/// One (T,T) map as a picture with a label at each row and column and each weight as a tooltip.
std::string heatmap_svg(std::span<const float> map, const std::vector<std::string>& labels, const std::string& title);

/// Every layer (down) and head (across) of one sequence in one picture.
std::string heatmap_grid_svg(const AttentionMaps& maps, std::int64_t sequence, const std::string& title);

/// Writes the weights as .npy: (L,H,T,T) of one sequence. Throws IoError.
void write_attention_npy(const std::string& path, const AttentionMaps& maps, std::int64_t sequence);

}  // namespace causeway
