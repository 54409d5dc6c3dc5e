#pragma once

#include "config/config.hpp"
#include "graph/graph.hpp"

namespace causeway {

/// What the graph ends in.
enum class Head {
    loss,            ///< value "loss": the sum of the cross-entropies against value "targets" (B,T)
    logits,          ///< value "logits" (B,T,V)
    position_logits  ///< value "logits" (B,1,V) of the row RunArgs::position
};

struct CausalLmOptions {
    std::int64_t batch = 1;
    std::int64_t sequence_length = 1;
    DType dtype = DType::f32;
    AttentionPath attention = AttentionPath::tiled;
    Head head = Head::loss;
    bool dropout = false;         ///< what the config says of dropout; otherwise there is none
    bool attention_mask = false;  ///< value "attention_mask", i32 (B,T): 0 hides a token from all others (padding)
    Shape mask;                   ///< of value "mask", u8 (T,T) or (1 or B, 1 or H, T, T), 0 hides; none when empty
    /// With Head::loss and experts: values "aux_loss" and "aux_loss.expert_load" (L,E) too.
    bool balance_experts = false;
};

/// The forward graph of a causal language model over value "tokens" (B,T). Parameters carry their names in
/// model.safetensors and their initializers; linear weights are (out, in).
Graph build_causal_lm(const ModelConfig& config, const CausalLmOptions& options);

}  // namespace causeway
