#include "train/windows.hpp"

#include <algorithm>

#include "base/ceil_div.hpp"

namespace causeway::train {

Windows::Windows(std::int64_t rows_per_epoch, std::int64_t batch_size, std::int64_t accumulation)
    : rows_per_epoch_(rows_per_epoch),
      batch_size_(batch_size),
      accumulation_(accumulation),
      per_epoch_(ceil_div(micro_batches_per_epoch(), accumulation)) {}

std::int64_t Windows::micro_batches_per_epoch() const { return ceil_div(rows_per_epoch_, batch_size_); }

std::int64_t Windows::micro_batches(std::int64_t window) const {
    if (per_epoch_ == 0) return accumulation_;
    return std::min(accumulation_, micro_batches_per_epoch() - window % per_epoch_ * accumulation_);
}

RowRange Windows::micro_batch(std::int64_t window, std::int64_t i) const {
    if (per_epoch_ == 0) return {(window * accumulation_ + i) * batch_size_, batch_size_};
    const std::int64_t epoch = window / per_epoch_, of_epoch = window % per_epoch_;
    const std::int64_t first = (of_epoch * accumulation_ + i) * batch_size_;
    return {epoch * rows_per_epoch_ + first, std::min(batch_size_, rows_per_epoch_ - first)};
}

std::int64_t Windows::until(std::int64_t rows) const {
    const std::int64_t window_rows = accumulation_ * batch_size_;
    if (per_epoch_ == 0) return ceil_div(rows, window_rows);
    return rows / rows_per_epoch_ * per_epoch_ + ceil_div(rows % rows_per_epoch_, window_rows);
}

}  // namespace causeway::train
