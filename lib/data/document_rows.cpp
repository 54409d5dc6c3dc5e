#include "data/document_rows.hpp"

#include <algorithm>
#include <vector>

#include "base/format.hpp"
#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "data/keyed_permutation.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

/// Tokens [first, end) of document `index` of a part, counted through the store.
struct Extent {
    std::int64_t first, size;
};

Extent extent_of(const TokenPart& part, std::int64_t index) {
    const std::span<const std::int64_t> starts = part.store->documents();
    const auto at = static_cast<std::size_t>(part.first_document + index);
    const std::int64_t end = at + 1 < starts.size() ? starts[at + 1] : part.store->size();
    return {starts[at], end - starts[at]};
}

class DocumentRows : public BatchSource {
  public:
    DocumentRows(const WindowSettings& settings, const char* part)
        : BatchSource(settings.batch_size, settings.sequence_length), settings_(settings) {
        if (documents() > 0) return;
        throw DataError(
            fmt::format("{}: the {} part has no document; more documents or another "
                        "data.validation_fraction give it some",
                        settings.name, part));
    }

    void check_files() const override { settings_.tokens.check_files(); }

  protected:
    std::int64_t documents() const { return settings_.tokens.documents; }
    std::uint64_t seed() const { return settings_.seed; }

    void fill_document(std::int64_t index, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const {
        const TokenStore& store = *settings_.tokens.store;
        const Extent document = extent_of(settings_.tokens, index);
        const auto length = static_cast<std::int64_t>(inputs.size());
        const auto read = static_cast<std::size_t>(std::min(document.size, length));
        const auto judged = static_cast<std::size_t>(std::min(document.size - 1, length));
        store.copy(document.first, inputs.first(read));
        store.copy_targets(document.first + 1, targets.first(judged));
        pad_row(inputs.subspan(read), targets.subspan(judged));
    }

  private:
    WindowSettings settings_;
};

/// Documents to train on: at least one of them has to teach something.
class TrainingDocuments : public DocumentRows {
  public:
    explicit TrainingDocuments(const WindowSettings& settings) : DocumentRows(settings, "training") {
        if (has_target()) return;
        throw DataError(fmt::format(
            "{}: no row of the training part has a token to learn: each of its {} documents is over, or cut "
            "after {} tokens, before one comes; give train.sequence_length more than {}",
            settings.name, documents(), sequence_length() + 1, sequence_length()));
    }

  private:
    /// Looks until there is one, which is soon where rows are as they should be.
    bool has_target() const {
        const auto length = static_cast<std::size_t>(sequence_length());
        std::vector<std::int32_t> inputs(length), targets(length);
        for (std::int64_t i = 0; i < documents(); ++i) {
            fill_document(i, inputs, targets);
            if (std::any_of(targets.begin(), targets.end(), is_scored)) return true;
        }
        return false;
    }
};

class RandomDocuments final : public TrainingDocuments {
  public:
    explicit RandomDocuments(const WindowSettings& settings) : TrainingDocuments(settings) {}

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        RandomStream random(seed(), stream_of(RandomDomain::training_rows, static_cast<std::uint64_t>(row)));
        const std::uint64_t index = random.next_below(static_cast<std::uint64_t>(documents()));
        fill_document(static_cast<std::int64_t>(index), inputs, targets);
    }
};

class EpochDocuments final : public TrainingDocuments {
  public:
    explicit EpochDocuments(const WindowSettings& settings) : TrainingDocuments(settings) {}

    std::int64_t rows_per_epoch() const override { return documents(); }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        const auto epoch = static_cast<std::uint64_t>(row / documents());
        const KeyedPermutation shuffled(documents(), seed(), stream_of(RandomDomain::shuffle, epoch));
        fill_document(shuffled(row % documents()), inputs, targets);
    }
};

class ValidationDocuments final : public DocumentRows {
  public:
    explicit ValidationDocuments(const WindowSettings& settings) : DocumentRows(settings, "validation") {}

    std::int64_t rows_per_epoch() const override { return documents(); }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        row < documents() ? fill_document(row, inputs, targets) : pad_row(inputs, targets);
    }
};

}  // namespace

std::unique_ptr<BatchSource> random_documents(const WindowSettings& settings) {
    return std::make_unique<RandomDocuments>(settings);
}

std::unique_ptr<BatchSource> epoch_documents(const WindowSettings& settings) {
    return std::make_unique<EpochDocuments>(settings);
}

std::unique_ptr<BatchSource> validation_documents(const WindowSettings& settings) {
    return std::make_unique<ValidationDocuments>(settings);
}

std::int64_t count_cut_documents(const TokenPart& part, std::int64_t sequence_length) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < part.documents; ++i) count += extent_of(part, i).size > sequence_length + 1 ? 1 : 0;
    return count;
}

}  // namespace causeway
