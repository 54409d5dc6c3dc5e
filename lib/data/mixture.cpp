#include "data/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/format.hpp"
#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "data/keyed_permutation.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

using Parts = std::vector<std::unique_ptr<BatchSource>>;

/// The part that a place among `ends`, ascending, belongs to, and how far inside it lies.
struct Place {
    std::size_t part;
    std::int64_t inside;
    std::int64_t size;
};

Place find_place(const std::vector<std::int64_t>& ends, std::int64_t at) {
    const auto part = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin());
    const std::int64_t begin = part == 0 ? 0 : ends[part - 1];
    return {part, at - begin, ends[part] - begin};
}

class MixtureRows final : public BatchSource {
  public:
    MixtureRows(Parts parts, std::vector<std::int64_t> ends, std::uint64_t seed)
        : BatchSource(parts[0]->batch_size(), parts[0]->sequence_length()),
          parts_(std::move(parts)),
          ends_(std::move(ends)),
          seed_(seed) {}

    void check_files() const override {
        for (const auto& part : parts_) part->check_files();
    }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        const std::int64_t block = row / mixture_block;
        const KeyedPermutation shuffled(mixture_block, seed_,
                                        stream_of(RandomDomain::shuffle, static_cast<std::uint64_t>(block)));
        const Place place = find_place(ends_, shuffled(row % mixture_block));
        parts_[place.part]->fill_one(block * place.size + place.inside, inputs, targets);
    }

    Parts parts_;
    std::vector<std::int64_t> ends_;  ///< of each part's share of a block
    std::uint64_t seed_;
};

class RowsInTurn final : public BatchSource {
  public:
    RowsInTurn(Parts parts, std::vector<std::int64_t> ends)
        : BatchSource(parts[0]->batch_size(), parts[0]->sequence_length()),
          parts_(std::move(parts)),
          ends_(std::move(ends)) {}

    std::int64_t rows_per_epoch() const override { return ends_.back(); }

    void check_files() const override {
        for (const auto& part : parts_) part->check_files();
    }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        if (row < ends_.back()) {
            const Place place = find_place(ends_, row);
            return parts_[place.part]->fill_one(place.inside, inputs, targets);
        }
        pad_row(inputs, targets);
    }

    Parts parts_;
    std::vector<std::int64_t> ends_;
};

}  // namespace

std::uint64_t seed_of_part(std::uint64_t seed, std::size_t part) {
    const auto words = philox4x32({static_cast<std::uint32_t>(part), 0, 0, 0},
                                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    return (std::uint64_t{words[1]} << 32) | words[0];
}

std::vector<std::int64_t> apportion(const std::vector<double>& weights, std::int64_t total) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::int64_t> shares;
    std::vector<double> remainders;
    for (const double weight : weights) {
        const double exact = weight / sum * static_cast<double>(total);
        shares.push_back(static_cast<std::int64_t>(std::floor(exact)));
        remainders.push_back(exact - std::floor(exact));
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return remainders[i]; });
    const std::int64_t given = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
    for (std::size_t i = 0; i < static_cast<std::size_t>(total - given); ++i) ++shares[order[i]];
    return shares;
}

std::unique_ptr<BatchSource> mixture_rows(Parts parts, const std::vector<double>& weights, std::uint64_t seed) {
    std::vector<std::int64_t> shares = apportion(weights, mixture_block);
    const auto none = std::ranges::find(shares, 0);
    if (none != shares.end()) {
        const auto at = static_cast<std::size_t>(none - shares.begin());
        throw DataError(fmt::format("data.mixture[{}].weight: {} is less than a row in {}, expected a larger share", at,
                                    weights[at], mixture_block));
    }
    std::partial_sum(shares.begin(), shares.end(), shares.begin());
    const std::uint64_t own_seed = seed_of_part(seed, parts.size());
    return std::make_unique<MixtureRows>(std::move(parts), std::move(shares), own_seed);
}

std::unique_ptr<BatchSource> rows_in_turn(Parts parts) {
    std::vector<std::int64_t> ends;
    for (const auto& part : parts) ends.push_back((ends.empty() ? 0 : ends.back()) + part->rows_per_epoch());
    return std::make_unique<RowsInTurn>(std::move(parts), std::move(ends));
}

}  // namespace causeway
