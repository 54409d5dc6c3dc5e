#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/philox.hpp"

namespace causeway::infer {

/// How the next token is chosen from the logits. Applied in this order, which is transformers': repetition_penalty,
/// temperature, top_k, top_p, min_p.
struct SamplingOptions {
    double temperature = 0.8;  ///< logits are divided by it; 0 takes the largest logit, the lowest id among equals
    std::int64_t top_k = 0;    ///< only the k largest; 0: all, and so is more than there are
    /// Only the smallest set of most likely tokens whose probabilities reach p together (Holtzman et al. 2019); 1: all,
    /// 0: the most likely one.
    double top_p = 1;
    /// Only tokens at least this likely compared with the most likely one (Nguyen et al. 2024: "Min-p sampling"); 0:
    /// all.
    double min_p = 0;
    /// Logits of tokens that have occurred are divided by it when positive, multiplied when negative (Keskar et al.
    /// 2019: "CTRL", section 4.1), the prompt's included; 1: none. Above 1 discourages them.
    double repetition_penalty = 1;
    std::uint64_t seed = 42;

    bool operator==(const SamplingOptions&) const = default;
};

/// Throws ConfigError, naming the option, its value and what is allowed, for a temperature that is negative or not
/// finite, a negative top_k, a top_p or min_p outside [0, 1], or a repetition_penalty that is not positive and finite.
void check_sampling(const SamplingOptions& options);

/// Chooses tokens. The same options, vocabulary and logits give the same tokens; a token takes one random number, and
/// none at temperature 0.
class Sampler {
  public:
    /// `sequence` numbers the sequences of one seed: each has random numbers of its own. Throws as check_sampling does.
    explicit Sampler(const SamplingOptions& options, std::uint64_t sequence = 0);

    /// Tells which tokens have occurred already, for repetition_penalty; those it chooses itself it knows. Ids must not
    /// be negative.
    void see(std::span<const std::int32_t> tokens);

    /// The token after these logits (V). -infinity excludes a token. Throws NumericError when a logit is NaN or
    /// +infinity or none is finite, DataError when there is none at all. O(V), with top_k or top_p about O(V log kept);
    /// allocates nothing after the first call, but for tokens that occur for the first time.
    std::int32_t next(std::span<const float> logits);

  private:
    struct Candidate {
        std::int32_t id = 0;
        float logit = 0;
        double weight = 0;  ///< exp((logit - largest) / temperature)
    };
    std::int32_t choose(std::span<const float> logits);
    std::span<const float> penalized(std::span<const float> logits);
    void sort_largest(std::size_t sorted, std::size_t count);
    void weigh(double top);
    void keep_nucleus(bool sorted);
    std::int32_t draw();

    SamplingOptions options_;
    RandomStream random_;
    std::vector<Candidate> candidates_;
    std::vector<std::int32_t> seen_;     ///< each token once
    std::vector<std::uint8_t> is_seen_;  ///< by token
    std::vector<float> penalized_;
};

}  // namespace causeway::infer
