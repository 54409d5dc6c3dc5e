#include "data/batch_source.hpp"

#include <algorithm>
#include <cstddef>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/tokens.hpp"

namespace causeway {

void BatchSource::fill(std::int64_t index, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const {
    if (index < 0) throw DataError(fmt::format("batch {} does not exist: batches are counted from 0", index));
    fill_rows(index * batch_size_, batch_size_, inputs, targets);
}

void BatchSource::fill_rows(std::int64_t first, std::int64_t count, std::span<std::int32_t> inputs,
                            std::span<std::int32_t> targets) const {
    const auto rows = static_cast<std::size_t>(batch_size_), length = static_cast<std::size_t>(sequence_length_);
    if (first < 0) throw DataError(fmt::format("row {} does not exist: rows are counted from 0", first));
    if (count < 1 || count > batch_size_) {
        throw DataError(fmt::format("a batch of {} rows was asked for, expected 1 to {}", count, batch_size_));
    }
    if (inputs.size() != rows * length || targets.size() != rows * length) {
        throw DataError(fmt::format("a batch has {} x {} inputs and as many targets, the buffers hold {} and {}", rows,
                                    length, inputs.size(), targets.size()));
    }
    for (std::size_t r = 0; r < rows; ++r) {
        const std::int64_t row = static_cast<std::int64_t>(r);
        const std::span<std::int32_t> row_targets = targets.subspan(r * length, length);
        fill_row(first + row % count, inputs.subspan(r * length, length), row_targets);
        if (row >= count) std::fill(row_targets.begin(), row_targets.end(), ignore_index);
    }
}

}  // namespace causeway
