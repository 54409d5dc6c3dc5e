#include "inspect/check_model.hpp"

#include <cmath>

#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

/// A gain: what norms multiply with. One-dimensional weights are gains, one-dimensional biases are not.
bool is_gain(const NamedTensor& tensor) {
    return tensor.view.desc.shape.rank() == 1 && tensor.name.ends_with(".weight");
}

template <class T>
void draw(const NamedTensor& tensor, RandomStream random) {
    const Shape& shape = tensor.view.desc.shape;
    const double mean = is_gain(tensor) ? 1.0 : 0.0;
    const double deviation = shape.rank() == 1 ? 0.2 : 1.5 / std::sqrt(static_cast<double>(shape.back()));
    T* data = tensor.view.as<T>();
    for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) {
        data[i] = static_cast<T>(mean + deviation * random.next_normal());
    }
}

}  // namespace

void draw_check_parameters(std::vector<NamedTensor>& parameters, std::uint64_t seed) {
    std::uint64_t index = 0;
    for (const NamedTensor& tensor : parameters) {
        const RandomStream random(seed, stream_of(RandomDomain::initialisation, index++));
        if (tensor.view.desc.dtype == DType::f64) {
            draw<double>(tensor, random);
        } else {
            draw<float>(tensor, random);
        }
    }
}

void draw_check_batch(std::int64_t vocab_size, std::uint64_t seed, std::span<std::int32_t> tokens,
                      std::span<std::int32_t> targets) {
    const auto fill = [&](std::span<std::int32_t> ids, RandomDomain domain) {
        RandomStream random(seed, stream_of(domain, 0));
        for (std::int32_t& id : ids) {
            id = static_cast<std::int32_t>(random.next_below(static_cast<std::uint64_t>(vocab_size)));
        }
    };
    fill(tokens, RandomDomain::check_tokens);
    fill(targets, RandomDomain::check_targets);
    for (std::size_t i = 6; i < targets.size() && targets.size() > 7; i += 7) targets[i] = ignore_index;
}

}  // namespace causeway
