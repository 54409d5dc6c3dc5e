#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "data/tokens.hpp"

namespace causeway {

/// Scored positions whose target has the largest logit; the lowest id wins among equals. logits (N,V), targets (N).
template <class T>
std::int64_t count_hits(std::span<const T> logits, std::span<const std::int32_t> targets) {
    const std::size_t vocab = logits.size() / targets.size();
    std::int64_t count = 0;
    for (std::size_t r = 0; r < targets.size(); ++r) {
        if (!is_scored(targets[r])) continue;
        const auto row = logits.subspan(r * vocab, vocab);
        if (std::max_element(row.begin(), row.end()) - row.begin() == targets[r]) ++count;
    }
    return count;
}

}  // namespace causeway
