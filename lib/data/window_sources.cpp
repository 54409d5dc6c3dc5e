#include "data/window_sources.hpp"

#include <algorithm>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "data/keyed_permutation.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

/// Throws DataError unless `part` of the text has `needed` tokens.
void require_tokens(const WindowSettings& settings, const char* part, std::int64_t found, std::int64_t needed) {
    if (found >= needed) return;
    throw DataError(
        fmt::format("{}: the {} part has {} tokens; train.sequence_length {} needs at least {}: use a longer "
                    "text, a shorter sequence or another data.validation_fraction",
                    settings.name, part, found, settings.sequence_length, needed));
}

/// The window of inputs.size() tokens that begins at `start`, and its targets, the tokens one further.
void copy_window(const TokenPart& tokens, std::int64_t start, std::span<std::int32_t> inputs,
                 std::span<std::int32_t> targets) {
    tokens.copy(start, inputs);
    tokens.copy_targets(start + 1, targets);
}

class RandomWindows final : public BatchSource {
  public:
    explicit RandomWindows(const WindowSettings& settings)
        : BatchSource(settings.batch_size, settings.sequence_length), seed_(settings.seed), tokens_(settings.tokens) {
        require_tokens(settings, "training", tokens_.size, sequence_length() + 1);
    }

    void check_files() const override { tokens_.check_files(); }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        RandomStream random(seed_, stream_of(RandomDomain::training_rows, static_cast<std::uint64_t>(row)));
        const std::uint64_t starts = static_cast<std::uint64_t>(tokens_.size - sequence_length());
        copy_window(tokens_, static_cast<std::int64_t>(random.next_below(starts)), inputs, targets);
    }

    std::uint64_t seed_;
    TokenPart tokens_;
};

class EpochWindows final : public BatchSource {
  public:
    explicit EpochWindows(const WindowSettings& settings)
        : BatchSource(settings.batch_size, settings.sequence_length), seed_(settings.seed), tokens_(settings.tokens) {
        require_tokens(settings, "training", tokens_.size, sequence_length() + 1);
        windows_ = ceil_div(tokens_.size - 1, sequence_length());
    }

    std::int64_t rows_per_epoch() const override { return windows_; }
    void check_files() const override { tokens_.check_files(); }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        const auto epoch = static_cast<std::uint64_t>(row / windows_);
        const KeyedPermutation shuffled(windows_, seed_, stream_of(RandomDomain::shuffle, epoch));
        const std::int64_t wanted = shuffled(row % windows_) * sequence_length();
        const std::int64_t start = std::min(wanted, tokens_.size - 1 - sequence_length());
        copy_window(tokens_, start, inputs, targets);
        std::fill_n(targets.begin(), wanted - start, ignore_index);
    }

    std::uint64_t seed_;
    TokenPart tokens_;
    std::int64_t windows_ = 0;
};

class ValidationWindows final : public BatchSource {
  public:
    ValidationWindows(const WindowSettings& settings, std::int64_t stride)
        : BatchSource(settings.batch_size, settings.sequence_length),
          tokens_(settings.tokens),
          stride_(stride > 0 ? stride : settings.sequence_length) {
        require_tokens(settings, "validation", tokens_.size, sequence_length() + 1);
        windows_ = ceil_div(tokens_.size - sequence_length(), stride_);
    }

    std::int64_t rows_per_epoch() const override { return windows_; }
    void check_files() const override { tokens_.check_files(); }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        if (row < windows_) return copy_window(tokens_, row * stride_, inputs, targets);
        pad_row(inputs, targets);
    }

    TokenPart tokens_;
    std::int64_t stride_;
    std::int64_t windows_ = 0;
};

}  // namespace

std::unique_ptr<BatchSource> random_windows(const WindowSettings& settings) {
    return std::make_unique<RandomWindows>(settings);
}

std::unique_ptr<BatchSource> epoch_windows(const WindowSettings& settings) {
    return std::make_unique<EpochWindows>(settings);
}

std::unique_ptr<BatchSource> validation_windows(const WindowSettings& settings, std::int64_t stride) {
    return std::make_unique<ValidationWindows>(settings, stride);
}

}  // namespace causeway
