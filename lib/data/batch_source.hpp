#pragma once

#include <cstdint>
#include <span>

#include "base/ceil_div.hpp"

namespace causeway {

/// Where batches come from. Rows are numbered 0, 1, 2, ... over the whole run, batch i being rows i*B .. i*B+B-1, and a
/// row is a pure function of the source's seed and its number. So a run resumes exactly from a step counter alone, any
/// thread may fill any batch, and one batch of 2B rows equals two of B.
class BatchSource {
  public:
    BatchSource(std::int64_t batch_size, std::int64_t sequence_length)
        : batch_size_(batch_size), sequence_length_(sequence_length) {}
    virtual ~BatchSource() = default;

    std::int64_t batch_size() const { return batch_size_; }            ///< B
    std::int64_t sequence_length() const { return sequence_length_; }  ///< T

    /// Rows in one pass over the data; 0 for sources without an end (random windows, training rows of a task).
    virtual std::int64_t rows_per_epoch() const { return 0; }

    /// ceil(rows_per_epoch() / B): what one evaluation runs. 0 for sources without an end.
    std::int64_t batches_per_epoch() const { return ceil_div(rows_per_epoch(), batch_size_); }

    /// Writes batch `index`, rows index * B .. index * B + B - 1, to inputs (B,T) and targets (B,T). Every input is a
    /// token; a target is a token or ignore_index, and the positions that are scored are those with a token. Allocates
    /// nothing. Throws DataError when a buffer does not hold B*T numbers or `index` is negative.
    void fill(std::int64_t index, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const;

    /// The same for `count` rows from `first` on, 1 <= count <= B. The batch is filled up with the same rows again,
    /// whose targets are all ignored there: a batch at an epoch's end may be short.
    void fill_rows(std::int64_t first, std::int64_t count, std::span<std::int32_t> inputs,
                   std::span<std::int32_t> targets) const;

    /// Throws IoError when a file that the rows come from has become shorter, so that reading it would end the process.
    virtual void check_files() const {}

  protected:
    /// Writes row `row` >= 0: inputs (T), targets (T).
    virtual void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const = 0;

  private:
    std::int64_t batch_size_;
    std::int64_t sequence_length_;
};

}  // namespace causeway
