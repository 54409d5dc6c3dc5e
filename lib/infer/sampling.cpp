#include "infer/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"

namespace causeway::infer {
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

void check_share(const char* name, double value, const char* hint) {
    if (!(value >= 0 && value <= 1)) {
        throw ConfigError(fmt::format("{}: found {}, expected a number from 0 to 1 ({})", name, value, hint));
    }
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
    check_share("top_p", options.top_p, "1 keeps all tokens");
    check_share("min_p", options.min_p, "0 keeps all tokens");
    if (!std::isfinite(options.repetition_penalty) || options.repetition_penalty <= 0) {
        throw ConfigError(
            fmt::format("repetition_penalty: found {}, expected a finite number above 0 (1 changes nothing)",
                        options.repetition_penalty));
    }
}

Sampler::Sampler(const SamplingOptions& options, std::uint64_t sequence)
    : options_(options), random_(options.seed, stream_of(RandomDomain::sampling, sequence)) {
    check_sampling(options);
}

void Sampler::see(std::span<const std::int32_t> tokens) {
    if (options_.repetition_penalty == 1) return;
    for (const std::int32_t token : tokens) {
        const auto id = static_cast<std::size_t>(token);
        if (id >= is_seen_.size()) is_seen_.resize(id + 1, 0);
        if (is_seen_[id] != 0) continue;
        is_seen_[id] = 1;
        seen_.push_back(token);
    }
}

std::int32_t Sampler::next(std::span<const float> logits) {
    const std::int32_t token = choose(penalized(logits));
    see({&token, 1});
    return token;
}

std::span<const float> Sampler::penalized(std::span<const float> logits) {
    if (seen_.empty()) return logits;
    penalized_.assign(logits.begin(), logits.end());
    const auto penalty = static_cast<float>(options_.repetition_penalty);
    for (const std::int32_t token : seen_) {
        if (static_cast<std::size_t>(token) >= penalized_.size()) continue;
        float& logit = penalized_[static_cast<std::size_t>(token)];
        logit = logit < 0 ? logit * penalty : logit / penalty;
    }
    return penalized_;
}

std::int32_t Sampler::choose(std::span<const float> logits) {
    const std::size_t largest = largest_of(logits);
    if (options_.temperature == 0) return static_cast<std::int32_t>(largest);
    candidates_.clear();
    candidates_.reserve(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) candidates_.push_back({static_cast<std::int32_t>(i), logits[i]});
    const auto top_k = static_cast<std::size_t>(options_.top_k);
    const bool filters_k = top_k > 0 && top_k < logits.size();
    if (filters_k) {
        sort_largest(0, top_k);
        candidates_.resize(top_k);
    }
    weigh(logits[largest]);
    if (options_.top_p < 1) keep_nucleus(filters_k);
    if (options_.min_p > 0) {
        std::erase_if(candidates_, [this](const Candidate& candidate) { return candidate.weight < options_.min_p; });
    }
    return draw();
}

/// Sets the weights: that of the most likely token is 1.
void Sampler::weigh(double top) {
    for (Candidate& candidate : candidates_) {
        // The difference comes first: however small the temperature, the largest keeps weight 1 and nothing overflows.
        candidate.weight = std::exp((candidate.logit - top) / options_.temperature);
    }
}

/// Puts the `count` most likely candidates in front, most likely first, the lowest id first among equals; the first
/// `sorted` are in their places already.
void Sampler::sort_largest(std::size_t sorted, std::size_t count) {
    const auto before = [](const Candidate& a, const Candidate& b) {
        return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
    };
    const auto begin = candidates_.begin();
    std::partial_sort(begin + static_cast<std::ptrdiff_t>(sorted), begin + static_cast<std::ptrdiff_t>(count),
                      candidates_.end(), before);
}

/// Cuts the sorted candidates after the first whose running sum reaches top_p of the whole. A nucleus is small as a
/// rule: candidates are sorted as far as it goes, a stretch at a time.
void Sampler::keep_nucleus(bool sorted) {
    double total = 0;
    for (const Candidate& candidate : candidates_) total += candidate.weight;
    std::size_t known = sorted ? candidates_.size() : 0;
    double sum = 0;
    std::size_t count = 0;
    do {
        if (count == known) {
            known = std::min(candidates_.size(), std::max<std::size_t>(64, 4 * count));
            sort_largest(count, known);
        }
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

}  // namespace causeway::infer
