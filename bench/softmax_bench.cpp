#include "base/format.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {

void register_softmax() {
    struct Size {
        std::int64_t rows, cols;
    };
    for (const auto [rows, cols] : {Size{128, 512}, {512, 128}, {12, 12}, {3072, 64}, {256, 50257}}) {
        const auto elements = static_cast<double>(rows * cols);
        const Work forward{.flops = 20 * elements, .bytes = 8 * elements, .stream = Stream::copy};
        add_case(fmt::format("softmax/f32/{}x{}", rows, cols), forward, [rows = rows, cols = cols] {
            auto x = random_floats(rows * cols, 1), y = zero_floats(rows * cols);
            return [=]() mutable {
                run_tiles(rows, [&](std::int64_t begin, std::int64_t end) {
                    kernels().softmax.forward(x.data(), y.data(), cols, begin, end);
                });
            };
        });
        const Work backward{.flops = 4 * elements, .bytes = 12 * elements, .stream = Stream::copy};
        add_case(fmt::format("softmax_bwd/f32/{}x{}", rows, cols), backward, [rows = rows, cols = cols] {
            auto y = random_floats(rows * cols, 1), dy = random_floats(rows * cols, 2), dx = zero_floats(rows * cols);
            return [=]() mutable {
                run_tiles(rows, [&](std::int64_t begin, std::int64_t end) {
                    kernels().softmax.backward(y.data(), dy.data(), dx.data(), cols, begin, end);
                });
            };
        });
    }
}

}  // namespace causeway::bench
