#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "inspect/attention_mask.hpp"
#include "tensor/shape.hpp"

namespace causeway {

struct TraceOptions {
    std::int64_t batch = 2;
    std::int64_t sequence_length = 0;  ///< 0: 5, or train.sequence_length where that is at most 10
    std::int64_t layer = 0;
    std::uint64_t seed = 42;            ///< of the parameters and of the random token ids
    std::optional<AttentionMask> mask;  ///< beside what the model itself hides
};

/// A value of the forward pass: its name, shape and what it is.
struct TraceEntry {
    std::string name;
    Shape shape;
    std::string meaning;
};

/// One forward pass of a freshly initialised model on random ids, seen from one attention layer.
struct Trace {
    std::int64_t layer = 0;
    std::int64_t hidden_size = 0, heads = 0, kv_heads = 0, head_dim = 0;
    double scale = 0;                       ///< of the scores
    bool causal = true;                     ///< what follows is hidden
    std::vector<TraceEntry> attention;      ///< x, q, k, v, scores, weights, heads, output
    std::vector<TraceEntry> intermediates;  ///< every value of the plan, in order
    std::int64_t length = 0;
    std::vector<double> scores;              ///< (T,T) of batch 0, head 0, before anything is hidden
    std::vector<double> weights;             ///< (T,T) of batch 0, head 0
    std::vector<double> row_sums;            ///< (T) of those weights
    double largest_row_sum_error = 0;        ///< |sum - 1| over all batches, heads and rows that see a key
    std::int64_t blind_queries = 0;          ///< rows, of all batches and heads, that see no key: their weights are 0
    double hidden_mass = 0;                  ///< weight on hidden keys over all batches and heads
    double future_mass = 0;                  ///< of batch 0, head 0: weight on keys after the query
    double future_mass_everywhere = 0;       ///< over all batches and heads
    double explicit_vs_fast = 0;             ///< largest difference between the explicit and the tiled path's heads
    double explicit_vs_reference_order = 0;  ///< between the explicit path on plain loops and a textbook evaluation
};

/// Throws ConfigError or DataError when the options do not fit the model.
Trace trace_model(const Config& config, const TraceOptions& options = {});

/// The trace as tables and lines "name=value".
std::string trace_text(const Trace& trace);

}  // namespace causeway
