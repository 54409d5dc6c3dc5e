#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/philox.hpp"

namespace causeway {

/// How the next token is chosen from the logits. The filters apply in this order: temperature, top_k, top_p.
struct SamplingOptions {
    double temperature = 0.8;  ///< logits are divided by it; 0 takes the largest logit, the lowest id among equals
    std::int64_t top_k = 0;    ///< only the k largest; 0: all, and so is more than there are
    /// Only the smallest set of most likely tokens whose probabilities reach p together (Holtzman et al. 2019); 1: all,
    /// 0: the most likely one.
    double top_p = 1;
    std::uint64_t seed = 42;

    bool operator==(const SamplingOptions&) const = default;
};

/// Throws ConfigError, naming the option, its value and what is allowed, for a temperature that is negative or not
/// finite, a negative top_k, or a top_p outside [0, 1].
void check_sampling(const SamplingOptions& options);

/// Chooses tokens. The same options, vocabulary and logits give the same tokens; a token takes one random number, and
/// none at temperature 0.
class Sampler {
  public:
    /// `sequence` numbers the sequences of one seed: each has random numbers of its own. Throws as check_sampling does.
    explicit Sampler(const SamplingOptions& options, std::uint64_t sequence = 0);

    /// The token after these logits (V). -infinity excludes a token. Throws NumericError when a logit is NaN or
    /// +infinity or none is finite, DataError when there is none at all. O(V), O(V log V) with top_k or top_p;
    /// allocates nothing after the first call.
    std::int32_t next(std::span<const float> logits);

  private:
    struct Candidate {
        std::int32_t id = 0;
        float logit = 0;
        double weight = 0;  ///< exp((logit - largest) / temperature)
    };
    void keep_largest(std::int64_t count);
    void keep_nucleus();
    std::int32_t draw();

    SamplingOptions options_;
    RandomStream random_;
    std::vector<Candidate> candidates_;
};

}  // namespace causeway
