#include <fmt/format.h>

#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {

void register_softmax() {
    struct Size {
        std::int64_t rows, cols;
    };
    for (const auto [rows, cols] : {Size{128, 512}, {512, 128}, {12, 12}, {3072, 64}, {256, 50257}}) {
        const double bytes = 8.0 * static_cast<double>(rows * cols);  // read x, write y
        add_case(fmt::format("softmax/f32/{}x{}", rows, cols), {.bytes = bytes}, [rows = rows, cols = cols] {
            const auto x = random_floats(rows * cols, 1);
            std::vector<float> y(x.size());
            return [=]() mutable {
                run_tiles(rows, [&](std::int64_t begin, std::int64_t end) {
                    kernels().softmax.forward(x.data(), y.data(), cols, begin, end);
                });
            };
        });
        add_case(fmt::format("softmax_bwd/f32/{}x{}", rows, cols), {.bytes = 1.5 * bytes}, [rows = rows, cols = cols] {
            const auto y = random_floats(rows * cols, 1), dy = random_floats(rows * cols, 2);
            std::vector<float> dx(y.size());
            return [=]() mutable {
                run_tiles(rows, [&](std::int64_t begin, std::int64_t end) {
                    kernels().softmax.backward(y.data(), dy.data(), dx.data(), cols, begin, end);
                });
            };
        });
    }
}

}  // namespace causeway::bench
