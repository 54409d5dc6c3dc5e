#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/isa.hpp"
#include "base/philox.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"

// What the tests of the row and element kernels share.

/// n numbers off any vector's alignment, with a margin of one certain bit pattern on both sides that a kernel must
/// leave alone.
template <class T>
class Guarded {
  public:
    explicit Guarded(std::int64_t n, T value = T{0}) : size_(n), storage_(static_cast<std::size_t>(n) + 2 * margin) {
        for (auto& element : storage_) element = canary;
        for (std::int64_t i = 0; i < n; ++i) data()[i] = value;
    }

    T* data() { return storage_.data() + margin; }
    const T* data() const { return storage_.data() + margin; }
    std::int64_t size() const { return size_; }
    T& operator[](std::int64_t i) { return data()[i]; }
    const T& operator[](std::int64_t i) const { return data()[i]; }

    bool margins_intact() const {
        for (std::size_t i = 0; i < margin; ++i) {
            if (storage_[i] != canary || storage_[storage_.size() - 1 - i] != canary) return false;
        }
        return true;
    }

    bool same_bits(const Guarded& other) const {
        return size_ == other.size_ &&
               std::memcmp(data(), other.data(), sizeof(T) * static_cast<std::size_t>(size_)) == 0;
    }

  private:
    static constexpr std::size_t margin = 33;
    static constexpr T canary = static_cast<T>(-123456.75);
    std::int64_t size_;
    std::vector<T> storage_;
};

/// n numbers, uniform in [low, high), all floats, so that problems in float and double are the same one.
template <class T>
Guarded<T> random_values(std::int64_t n, std::uint64_t seed, double low = -1, double high = 1) {
    Guarded<T> values(n);
    causeway::RandomStream stream(seed, 3);
    for (std::int64_t i = 0; i < n; ++i) {
        values[i] = static_cast<T>(static_cast<float>(low + (high - low) * stream.next_uniform()));
    }
    return values;
}

/// Largest |actual - expected| / (absolute + relative |expected|): at most 1 when all are within tolerance.
template <class T>
double worst_error(const Guarded<T>& actual, const Guarded<double>& expected, double absolute, double relative) {
    double worst = 0;
    for (std::int64_t i = 0; i < actual.size(); ++i) {
        const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
        const double scaled = error / (absolute + relative * std::abs(expected[i]));
        if (!(scaled <= worst)) worst = std::isnan(scaled) ? std::numeric_limits<double>::infinity() : scaled;
    }
    return worst;
}

/// check(table) for every instruction set that this CPU and this build have, the reference included.
template <class Check>
void for_each_isa(Check check) {
    for (const causeway::Isa isa : causeway::available_isas()) {
        INFO("isa " << std::string(causeway::to_string(isa)));
        check(causeway::kernels::kernel_table(isa));
    }
}

/// Lengths around every vector width and its multiples.
inline const std::vector<std::int64_t>& awkward_lengths() {
    static const std::vector<std::int64_t> lengths = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15,  16,  17,  23,
                                                      31, 32, 33, 40, 63, 64, 65, 67, 97, 128, 257, 1000};
    return lengths;
}

/// Central difference of f() by one of the numbers it is computed from.
template <class F>
double central_difference(F&& f, double& number) {
    constexpr double h = 1e-5;
    const double kept = number;
    number = kept + h;
    const double above = f();
    number = kept - h;
    const double below = f();
    number = kept;
    return (above - below) / (2 * h);
}
