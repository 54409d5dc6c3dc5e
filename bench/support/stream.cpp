#include "support/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "support/bench.hpp"

// The widest vectors that the CPU has, whichever instruction set the kernels are held to: this is about the memory.
#if defined(__x86_64__)
#define CAUSEWAY_WIDEST [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define CAUSEWAY_WIDEST
#endif

namespace causeway::bench {
namespace {

constexpr std::int64_t width = 16;  ///< floats a step of each loop: a cache line
constexpr std::int64_t piece = 1 << 14;
using Line [[gnu::vector_size(sizeof(float) * width)]] = float;

CAUSEWAY_WIDEST float read_loop(const float* x, std::int64_t n) {
    constexpr int streams = 8;
    Line sum[streams] = {};
    for (std::int64_t i = 0; i + streams * width <= n; i += streams * width) {
#pragma GCC unroll 8
        for (int s = 0; s < streams; ++s) {
            Line value;
            std::memcpy(&value, x + i + s * width, sizeof value);
            sum[s] += value;
        }
    }
    for (int s = 1; s < streams; ++s) sum[0] += sum[s];
    return sum[0][0];
}

CAUSEWAY_WIDEST void copy_loop(const float* x, float* y, std::int64_t n) {
#pragma GCC unroll 4
    for (std::int64_t i = 0; i + width <= n; i += width) {
        Line value;
        std::memcpy(&value, x + i, sizeof value);
        value *= 0.5f;
        std::memcpy(y + i, &value, sizeof value);
    }
}

CAUSEWAY_WIDEST void adamw_loop(float* p, const float* g, float* m, float* v, std::int64_t n) {
#pragma GCC unroll 2
    for (std::int64_t i = 0; i + width <= n; i += width) {
        Line param, grad, first, second;
        std::memcpy(&param, p + i, sizeof param);
        std::memcpy(&grad, g + i, sizeof grad);
        std::memcpy(&first, m + i, sizeof first);
        std::memcpy(&second, v + i, sizeof second);
        first = first * 0.5f + grad;
        second = second * 0.5f + grad;
        param = param * 0.5f + first - second;
        std::memcpy(p + i, &param, sizeof param);
        std::memcpy(m + i, &first, sizeof first);
        std::memcpy(v + i, &second, sizeof second);
    }
}

template <class F>
double seconds_of(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

StreamArrays::StreamArrays(Stream kind, std::int64_t n) : kind_(kind), n_(n), x_(random_floats(arrays(kind) * n, 1)) {}

std::int64_t StreamArrays::arrays(Stream kind) {
    return kind == Stream::adamw ? 4 : kind == Stream::copy ? 2 : kind == Stream::read ? 1 : 0;
}

double StreamArrays::bytes() const {
    const double passes = kind_ == Stream::adamw ? 7 : kind_ == Stream::copy ? 2 : 1;
    return passes * sizeof(float) * static_cast<double>(n_);
}

void StreamArrays::run() {
    run_tiles(ceil_div(n_, piece),
              [this](std::int64_t begin, std::int64_t end) { run(begin * piece, std::min(n_, end * piece)); });
}

void StreamArrays::run(std::int64_t begin, std::int64_t end) {
    float* x = x_.data() + begin;
    const std::int64_t n = end - begin;
    if (kind_ == Stream::read) {
        benchmark::DoNotOptimize(read_loop(x, n));
    } else if (kind_ == Stream::copy) {
        copy_loop(x, x + n_, n);
    } else {
        adamw_loop(x, x + n_, x + 2 * n_, x + 3 * n_, n);
    }
}

double stream_bytes_per_second(Stream kind, double distinct_bytes) {
    if (kind == Stream::none || distinct_bytes < 16384) return 0;
    constexpr double round_bytes = 1 << 23, least_rounds = 4, budget = 5e-3;
    const auto line = static_cast<double>(sizeof(Line)) * static_cast<double>(StreamArrays::arrays(kind));
    const std::int64_t n = width * static_cast<std::int64_t>(distinct_bytes / line);
    // Kept from one case to the next: fresh memory costs more than the measurement.
    static std::unique_ptr<StreamArrays> arrays;
    if (arrays == nullptr || kind != arrays->kind() || n != arrays->elements()) {
        arrays.reset();
        arrays = std::make_unique<StreamArrays>(kind, n);
    }
    const int repeats = std::max(1, static_cast<int>(round_bytes / arrays->bytes()));
    double best = 0, total = 0;
    for (int round = 0; round < least_rounds || total < budget; ++round) {
        const double seconds = seconds_of([&] {
            for (int i = 0; i < repeats; ++i) arrays->run();
        });
        best = std::max(best, repeats * arrays->bytes() / seconds);
        total += seconds;
    }
    return best;
}

}  // namespace causeway::bench
