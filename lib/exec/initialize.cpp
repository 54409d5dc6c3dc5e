#include "exec/initialize.hpp"

#include <cmath>

#include "base/philox.hpp"

namespace causeway {
namespace {

/// table[p, 2i] = sin(p / 10000^(2i/D)), table[p, 2i+1] = cos of the same (Vaswani et al. 2017, section 3.5).
double sinusoidal(std::int64_t position, std::int64_t column, std::int64_t dim) {
    const double pair = static_cast<double>(column / 2 * 2);
    const double angle = static_cast<double>(position) / std::pow(10000.0, pair / static_cast<double>(dim));
    return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

/// table[p, i] = cos(p f_i), table[p, n + i] = sin(p f_i) of n frequencies (Su et al. 2021, equation 15).
double rotation(std::int64_t position, std::int64_t column, const std::vector<double>& frequencies) {
    const auto pairs = static_cast<std::int64_t>(frequencies.size());
    const double angle = static_cast<double>(position) * frequencies[static_cast<std::size_t>(column % pairs)];
    return column < pairs ? std::cos(angle) : std::sin(angle);
}

template <class T>
void fill(const PlannedValue& value, T* data, RandomStream random) {
    const std::int64_t dim = value.desc.shape.rank() > 0 ? value.desc.shape.back() : 1;
    const double scale = value.initializer.scale;
    const auto each = [&](auto&& draw) {
        for (std::int64_t i = 0; i < value.desc.stored_elements; ++i) data[i] = static_cast<T>(draw(i));
    };
    switch (value.initializer.kind) {
        case Initializer::Kind::zeros:
            return each([](std::int64_t) { return 0.0; });
        case Initializer::Kind::ones:
            return each([](std::int64_t) { return 1.0; });
        case Initializer::Kind::normal:
            return each([&](std::int64_t) { return scale * random.next_normal(); });
        case Initializer::Kind::uniform:
            return each([&](std::int64_t) { return scale * (2 * random.next_uniform() - 1); });
        case Initializer::Kind::sinusoidal:
            return each([&](std::int64_t i) { return sinusoidal(i / dim, i % dim, dim); });
        case Initializer::Kind::rope:
            return each(
                [&](std::int64_t i) { return scale * rotation(i / dim, i % dim, value.initializer.frequencies); });
    }
}

}  // namespace

void initialize(const PlannedValue& value, void* data, std::uint64_t seed, std::uint64_t stream) {
    const RandomStream random(seed, stream);
    if (value.desc.dtype == DType::f64) {
        fill(value, static_cast<double*>(data), random);
    } else {
        fill(value, static_cast<float*>(data), random);
    }
}

}  // namespace causeway
