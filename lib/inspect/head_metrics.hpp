#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inspect/attention_maps.hpp"

namespace causeway {

/// What one head does, as means over the queries of a batch. Masses are sums of weights; NaN where no query counts.
struct HeadMetrics {
    std::int64_t layer = 0, head = 0;
    double entropy = 0;             ///< of the weights of a query, in nats
    double relative_entropy = 0;    ///< entropy / log(visible keys), over queries that see two or more: 1 is uniform
    double self = 0;                ///< mass on the query's own position
    double previous = 0;            ///< on the position before, over queries t >= 1
    double first = 0;               ///< on position 0, over queries t >= 1
    double induction = 0;           ///< on positions that follow an earlier occurrence of the query's token
    std::vector<double> look_back;  ///< [k]: mass on the position k before, over queries t >= k; k = 0 is self
    std::int64_t best_look_back() const;  ///< the k >= 1 with the most mass; 0 when there is none
};

/// Metrics of every head, layer by layer. ids: (B,T), the tokens that the maps belong to. look_back holds distances
/// up to min(max_look_back, T - 1). O(L B H T^2).
std::vector<HeadMetrics> head_metrics(const AttentionMaps& maps, std::span<const std::int32_t> ids,
                                      std::int64_t max_look_back = 8);

/// A table for terminals, a line a head; "-" for NaN.
std::string head_metrics_text(const std::vector<HeadMetrics>& metrics);
/// An array of objects; null for NaN.
std::string head_metrics_json(const std::vector<HeadMetrics>& metrics);

}  // namespace causeway
