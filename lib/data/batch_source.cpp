#include "data/batch_source.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "causeway/error.hpp"

namespace causeway {

void BatchSource::fill(std::int64_t index, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const {
    const auto rows = static_cast<std::size_t>(batch_size_), length = static_cast<std::size_t>(sequence_length_);
    if (index < 0) throw DataError(fmt::format("batch {} does not exist: batches are counted from 0", index));
    if (inputs.size() != rows * length || targets.size() != rows * length) {
        throw DataError(fmt::format("a batch has {} x {} inputs and as many targets, the buffers hold {} and {}", rows,
                                    length, inputs.size(), targets.size()));
    }
    for (std::size_t r = 0; r < rows; ++r) {
        fill_row(index * batch_size_ + static_cast<std::int64_t>(r), inputs.subspan(r * length, length),
                 targets.subspan(r * length, length));
    }
}

}  // namespace causeway
