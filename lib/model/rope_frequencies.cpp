#include "model/rope_frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace causeway {
namespace {

std::vector<double> unscaled(double theta, std::int64_t head_dim) {
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < head_dim; i += 2) {
        frequencies.push_back(std::pow(theta, -static_cast<double>(i) / static_cast<double>(head_dim)));
    }
    return frequencies;
}

/// The base that spreads `length` positions over the turns which `original` ones were trained with.
double dynamic_theta(const RopeConfig& rope, std::int64_t head_dim, double original, double length) {
    const double d = static_cast<double>(head_dim);
    const double stretch = rope.factor * std::max(length, original) / original - (rope.factor - 1);
    return rope.theta * std::pow(stretch, d / (d - 2));
}

double llama3_frequency(const RopeConfig& rope, double frequency, double original) {
    const double wavelength = 2 * std::numbers::pi / frequency;
    if (wavelength < original / rope.high_freq_factor) return frequency;
    if (wavelength > original / rope.low_freq_factor) return frequency / rope.factor;
    const double kept = (original / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
    return (1 - kept) * frequency / rope.factor + kept * frequency;
}

/// The pair, as a real number, that turns `rotations` times within the original context.
double yarn_pair(const RopeConfig& rope, std::int64_t head_dim, double original, double rotations) {
    return static_cast<double>(head_dim) * std::log(original / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
}

void scale_yarn(RopeFrequencies& result, const RopeConfig& rope, std::int64_t head_dim, double original) {
    const double first = std::max(std::floor(yarn_pair(rope, head_dim, original, rope.beta_fast)), 0.0);
    double last =
        std::min(std::ceil(yarn_pair(rope, head_dim, original, rope.beta_slow)), static_cast<double>(head_dim - 1));
    if (last == first) last += 0.001;  // a step instead of a ramp
    for (std::size_t i = 0; i < result.frequencies.size(); ++i) {
        const double scaled = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
        result.frequencies[i] *= scaled / rope.factor + (1 - scaled);
    }
    const double paper = rope.factor > 1 ? 0.1 * std::log(rope.factor) + 1 : 1;
    result.scale = rope.attention_factor != 0 ? rope.attention_factor : paper;
}

}  // namespace

RopeFrequencies rope_frequencies(const RopeConfig& rope, std::int64_t head_dim, std::int64_t max_positions,
                                 std::int64_t length) {
    const double original = static_cast<double>(
        rope.original_max_position_embeddings != 0 ? rope.original_max_position_embeddings : max_positions);
    RopeFrequencies result{unscaled(rope.theta, head_dim), 1};
    switch (rope.type) {
        case RopeType::unscaled:
            break;
        case RopeType::linear:
            for (double& f : result.frequencies) f /= rope.factor;
            break;
        case RopeType::dynamic:
            result.frequencies =
                unscaled(dynamic_theta(rope, head_dim, original, static_cast<double>(length)), head_dim);
            break;
        case RopeType::llama3:
            for (double& f : result.frequencies) f = llama3_frequency(rope, f, original);
            break;
        case RopeType::yarn:
            scale_yarn(result, rope, head_dim, original);
            break;
    }
    return result;
}

}  // namespace causeway
