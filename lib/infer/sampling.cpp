#include "infer/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random_domain.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

/// Index of the largest logit, the first among equals.
std::size_t largest_of(std::span<const float> logits) {
    if (logits.empty()) throw DataError("sampling: there are no logits to choose from");
    std::size_t largest = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i]) || (std::isinf(logits[i]) && logits[i] > 0)) {
            throw NumericError(fmt::format("sampling: the logit of token {} is {}, expected a finite number", i,
                                           static_cast<double>(logits[i])));
        }
        if (logits[i] > logits[largest]) largest = i;
    }
    if (std::isinf(logits[largest])) throw NumericError("sampling: every logit is -inf, so no token is possible");
    return largest;
}

}  // namespace

void check_sampling(const SamplingOptions& options) {
    if (!std::isfinite(options.temperature) || options.temperature < 0) {
        throw ConfigError(
            fmt::format("temperature: found {}, expected a finite number of at least 0 (0 takes the most "
                        "likely token)",
                        options.temperature));
    }
    if (options.top_k < 0) {
        throw ConfigError(
            fmt::format("top_k: found {}, expected an integer of at least 0 (0 keeps all tokens)", options.top_k));
    }
    if (!(options.top_p >= 0 && options.top_p <= 1)) {
        throw ConfigError(
            fmt::format("top_p: found {}, expected a number from 0 to 1 (1 keeps all tokens)", options.top_p));
    }
}

Sampler::Sampler(const SamplingOptions& options, std::uint64_t sequence)
    : options_(options), random_(options.seed, stream_of(RandomDomain::sampling, sequence)) {
    check_sampling(options);
}

std::int32_t Sampler::next(std::span<const float> logits) {
    const std::size_t largest = largest_of(logits);
    if (options_.temperature == 0) return static_cast<std::int32_t>(largest);
    const double top = logits[largest];
    candidates_.clear();
    candidates_.reserve(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
        // The difference comes first: however small the temperature, the largest keeps weight 1 and nothing overflows.
        const double weight = std::exp((logits[i] - top) / options_.temperature);
        candidates_.push_back({static_cast<std::int32_t>(i), logits[i], weight});
    }
    const auto size = static_cast<std::int64_t>(logits.size());
    const bool filters_k = options_.top_k > 0 && options_.top_k < size;
    if (filters_k || options_.top_p < 1) keep_largest(filters_k ? options_.top_k : size);
    if (options_.top_p < 1) keep_nucleus();
    return draw();
}

/// Keeps the `count` most likely candidates, most likely first, the lowest id first among equals.
void Sampler::keep_largest(std::int64_t count) {
    const auto before = [](const Candidate& a, const Candidate& b) {
        return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
    };
    std::partial_sort(candidates_.begin(), candidates_.begin() + count, candidates_.end(), before);
    candidates_.resize(static_cast<std::size_t>(count));
}

/// Cuts the sorted candidates after the first whose running sum reaches top_p of the whole.
void Sampler::keep_nucleus() {
    double total = 0;
    for (const Candidate& candidate : candidates_) total += candidate.weight;
    double sum = 0;
    std::size_t count = 0;
    do {
        sum += candidates_[count++].weight;
    } while (count < candidates_.size() && sum < options_.top_p * total);
    candidates_.resize(count);
}

std::int32_t Sampler::draw() {
    double total = 0;
    for (const Candidate& candidate : candidates_) total += candidate.weight;
    double left = random_.next_uniform() * total;
    std::int32_t last = candidates_.front().id;
    for (const Candidate& candidate : candidates_) {
        if (candidate.weight == 0) continue;
        last = candidate.id;
        left -= candidate.weight;
        if (left < 0) break;
    }
    return last;  // rounding may leave a crumb: the last possible one takes it
}

}  // namespace causeway
