#include <fmt/format.h>

#include <algorithm>

#include "base/ceil_div.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

constexpr std::int64_t piece = 1 << 16;

void add_adamw(const char* size, std::int64_t n) {
    add_case(fmt::format("adamw/f32/{}", size), {.bytes = 28.0 * static_cast<double>(n)}, [n] {
        auto param = random_floats(n, 1);
        const auto grad = random_floats(n, 2);
        std::vector<float> m(param.size()), v(param.size());
        return [=]() mutable {
            kernels::AdamWArgs<float> args;
            args.param = param.data();
            args.grad = grad.data();
            args.m = m.data();
            args.v = v.data();
            args.learning_rate = 1e-4;
            args.weight_decay = 0.01;
            run_tiles(ceil_div(n, piece), [&](std::int64_t begin, std::int64_t end) {
                kernels().optimizer.adamw(args, begin * piece, std::min(n, end * piece));
            });
        };
    });
}

void add_sum_squares(const char* size, std::int64_t n) {
    add_case(fmt::format("sum_squares/f32/{}", size), {.bytes = 4.0 * static_cast<double>(n)}, [n] {
        const auto x = random_floats(n, 1);
        std::vector<double> sums(static_cast<std::size_t>(ceil_div(n, piece)));
        return [=]() mutable {
            run_tiles(static_cast<std::int64_t>(sums.size()), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) {
                    sums[static_cast<std::size_t>(i)] =
                        kernels().optimizer.sum_squares(x.data(), i * piece, std::min(n, (i + 1) * piece));
                }
            });
            benchmark::DoNotOptimize(sums.data());
        };
    });
}

}  // namespace

void register_optimizer() {
    add_adamw("20M", 20'000'000);
    add_adamw("64K", 1 << 16);
    add_sum_squares("20M", 20'000'000);
    add_sum_squares("64K", 1 << 16);
}

}  // namespace causeway::bench
