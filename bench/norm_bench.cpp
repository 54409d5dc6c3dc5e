#include <fmt/format.h>

#include <memory>

#include "base/ceil_div.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

struct Operands {
    Operands(std::int64_t row_count, std::int64_t col_count)
        : rows(row_count),
          cols(col_count),
          x(random_floats(rows * cols, 1)),
          dy(random_floats(rows * cols, 2)),
          weight(random_floats(cols, 3)),
          bias(random_floats(cols, 4)),
          y(zero_floats(rows * cols)),
          mean(zero_floats(rows)),
          rstd(zero_floats(rows)),
          partial(zero_floats(2 * chunks() * cols)) {}

    std::int64_t chunks() const { return ceil_div(rows, chunk_rows); }

    void forward() {
        kernels::LayerNormForwardArgs<float> args;
        args.x = x.data();
        args.weight = weight.data();
        args.bias = bias.data();
        args.y = y.data();
        args.mean = mean.data();
        args.rstd = rstd.data();
        args.cols = cols;
        run_tiles(rows,
                  [&](std::int64_t begin, std::int64_t end) { kernels().norm.layernorm_forward(args, begin, end); });
    }

    void backward() {
        kernels::LayerNormBackwardArgs<float> args;
        args.dy = dy.data();
        args.x = x.data();
        args.weight = weight.data();
        args.mean = mean.data();
        args.rstd = rstd.data();
        args.dx = y.data();
        args.dweight_partial = partial.data();
        args.dbias_partial = partial.data() + chunks() * cols;
        args.rows = rows;
        args.cols = cols;
        args.chunk_rows = chunk_rows;
        run_tiles(chunks(),
                  [&](std::int64_t begin, std::int64_t end) { kernels().norm.layernorm_backward(args, begin, end); });
    }

    static constexpr std::int64_t chunk_rows = 32;
    std::int64_t rows, cols;
    Floats x, dy, weight, bias, y, mean, rstd, partial;
};

}  // namespace

void register_norm() {
    struct Size {
        std::int64_t rows, cols;
    };
    for (const auto [rows, cols] : {Size{256, 768}, {12, 32}, {4096, 768}}) {
        const auto elements = static_cast<double>(rows * cols);
        const Work forward{.flops = 8 * elements, .bytes = 8 * elements, .stream = Stream::copy};
        add_case(fmt::format("layernorm/f32/{}x{}", rows, cols), forward, [rows = rows, cols = cols] {
            auto operands = std::make_shared<Operands>(rows, cols);
            return [operands] { operands->forward(); };
        });
        const Work backward{.flops = 14 * elements, .bytes = 12 * elements, .stream = Stream::copy};
        add_case(fmt::format("layernorm_bwd/f32/{}x{}", rows, cols), backward, [rows = rows, cols = cols] {
            auto operands = std::make_shared<Operands>(rows, cols);
            operands->forward();
            return [operands] { operands->backward(); };
        });
    }
}

}  // namespace causeway::bench
