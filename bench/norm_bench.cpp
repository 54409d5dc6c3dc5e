#include <memory>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
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

/// RMSNorm on the same operands.
void rmsnorm(Operands& o) {
    const kernels::RmsNormForwardArgs<float> args{o.x.data(), o.weight.data(), o.y.data(), o.rstd.data(), o.cols, 1e-6};
    run_tiles(o.rows, [&](std::int64_t begin, std::int64_t end) { kernels().rmsnorm.forward(args, begin, end); });
}

void rmsnorm_backward(Operands& o) {
    const kernels::RmsNormBackwardArgs<float> args{o.dy.data(), o.x.data(),          o.weight.data(),  o.rstd.data(),
                                                   nullptr,     o.y.data(),          o.partial.data(), o.rows,
                                                   o.cols,      Operands::chunk_rows};
    run_tiles(o.chunks(), [&](std::int64_t begin, std::int64_t end) { kernels().rmsnorm.backward(args, begin, end); });
}

/// The heads of Q and K in MiniMind's fused qkv: 8 + 4 of 96, of 16.
struct QkvOperands {
    QkvOperands()
        : x(random_floats(rows * row.width(), 1)),
          dy(random_floats(rows * row.width(), 2)),
          weight(random_floats(row.head_dim, 3)),
          table(random_floats(rows * row.head_dim, 4)),
          y(zero_floats(rows * row.width())),
          rstd(zero_floats(rows * row.normed_heads())),
          partial(zero_floats(chunks * 2 * row.head_dim)) {}

    void norm() {
        const kernels::QkNormForwardArgs<float> args{x.data(),    weight.data(), weight.data(), y.data(),
                                                     rstd.data(), row,           1e-6};
        run_tiles(rows, [&](std::int64_t begin, std::int64_t end) { kernels().rmsnorm.qk_forward(args, begin, end); });
    }
    void norm_backward() {
        const kernels::QkNormBackwardArgs<float> args{dy.data(),   x.data(),     weight.data(),  weight.data(),
                                                      rstd.data(), y.data(),     partial.data(), row,
                                                      rows,        rows / chunks};
        run_tiles(chunks,
                  [&](std::int64_t begin, std::int64_t end) { kernels().rmsnorm.qk_backward(args, begin, end); });
    }
    void rotate() {  // in place, as in a plan
        const kernels::RopeArgs<float> args{x.data(), x.data(),    table.data(),       nullptr,
                                            rows,     row.width(), row.normed_heads(), row.head_dim};
        run_tiles(rows, [&](std::int64_t begin, std::int64_t end) { kernels().rope.rotate(args, begin, end); });
    }

    static constexpr std::int64_t rows = 512, chunks = 32;
    static constexpr kernels::QkvRow row{8, 4, 96};
    Floats x, dy, weight, table, y, rstd, partial;
};

void add_qkv_case(const std::string& name, double flops, double bytes, void (QkvOperands::*run)()) {
    const auto elements = static_cast<double>(QkvOperands::rows * QkvOperands::row.width());
    const Work work{.flops = flops * elements, .bytes = bytes * elements, .stream = Stream::copy};
    add_case(fmt::format("{}/f32/{}x{}", name, QkvOperands::rows, QkvOperands::row.width()), work, [run] {
        auto operands = std::make_shared<QkvOperands>();
        operands->norm();
        return [operands, run] { ((*operands).*run)(); };
    });
}

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
        const Work rms_forward{.flops = 4 * elements, .bytes = 8 * elements, .stream = Stream::copy};
        add_case(fmt::format("rmsnorm/f32/{}x{}", rows, cols), rms_forward, [rows = rows, cols = cols] {
            auto operands = std::make_shared<Operands>(rows, cols);
            return [operands] { rmsnorm(*operands); };
        });
        const Work rms_backward{.flops = 9 * elements, .bytes = 12 * elements, .stream = Stream::copy};
        add_case(fmt::format("rmsnorm_bwd/f32/{}x{}", rows, cols), rms_backward, [rows = rows, cols = cols] {
            auto operands = std::make_shared<Operands>(rows, cols);
            rmsnorm(*operands);
            return [operands] { rmsnorm_backward(*operands); };
        });
    }
    add_qkv_case("qk_norm", 4, 8, &QkvOperands::norm);
    add_qkv_case("qk_norm_bwd", 9, 12, &QkvOperands::norm_backward);
    add_qkv_case("rope", 3, 8, &QkvOperands::rotate);
}

}  // namespace causeway::bench
