#pragma once

#include "config/config.hpp"

/// A model small enough to be checked scalar by scalar: 2 layers, D=12, H=3, V=17, context 8, random tokens in `text`.
inline causeway::Config tiny_config() {
    causeway::Config config;
    config.model.vocab_size = 17;
    config.model.hidden_size = 12;
    config.model.num_hidden_layers = 2;
    config.model.num_attention_heads = 3;
    config.model.intermediate_size = 20;
    config.model.max_position_embeddings = 8;
    config.data.source = causeway::DataSource::repeat;
    config.train.batch_size = 2;
    config.train.sequence_length = 8;
    config.runtime.threads = 1;
    return config;
}

/// The same with every derived field filled.
inline causeway::Config resolved(const causeway::Config& config) { return causeway::resolve_config(config); }
