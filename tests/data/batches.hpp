#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/batch_source.hpp"

/// One batch of a source: inputs (B,T), targets (B,T).
struct Batch {
    std::vector<std::int32_t> inputs, targets;
    bool operator==(const Batch&) const = default;
};

inline Batch batch_of(const causeway::BatchSource& source, std::int64_t index) {
    const auto size = static_cast<std::size_t>(source.batch_size() * source.sequence_length());
    Batch batch{std::vector<std::int32_t>(size, -7), std::vector<std::int32_t>(size, -7)};
    source.fill(index, batch.inputs, batch.targets);
    return batch;
}

/// Bytes 0, 1, 2, ..., n-1 (n <= 256): a text whose every token says where it stands.
inline std::string counting_text(int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += static_cast<char>(i);
    return text;
}
