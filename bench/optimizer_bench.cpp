#include <algorithm>
#include <memory>

#include "base/format.hpp"
#include "families.hpp"
#include "support/training_step.hpp"

namespace causeway::bench {
namespace {

constexpr std::int64_t piece = 1 << 16;

/// Reads parameter, gradient and two moments, writes all but the gradient.
void add_adamw(const char* size, std::int64_t n) {
    const auto elements = static_cast<double>(n);
    const Work work{
        .flops = 14 * elements, .bytes = 28 * elements, .stream = Stream::adamw, .distinct_bytes = 16 * elements};
    add_case(fmt::format("adamw/f32/{}", size), work, [n] {
        auto param = random_floats(n, 1), grad = random_floats(n, 2), m = zero_floats(n), v = zero_floats(n);
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

/// Reads parameter, gradient and momentum, writes all but the gradient.
void add_sgd(const char* size, std::int64_t n) {
    const auto elements = static_cast<double>(n);
    add_case(fmt::format("sgd/f32/{}", size), {.flops = 7 * elements, .bytes = 20 * elements}, [n] {
        auto param = random_floats(n, 1), grad = random_floats(n, 2), m = zero_floats(n);
        return [=]() mutable {
            kernels::SgdArgs<float> args;
            args.param = param.data();
            args.grad = grad.data();
            args.m = m.data();
            args.learning_rate = 1e-4;
            args.momentum = 0.9;
            args.weight_decay = 0.01;
            run_tiles(ceil_div(n, piece), [&](std::int64_t begin, std::int64_t end) {
                kernels().optimizer.sgd(args, begin * piece, std::min(n, end * piece));
            });
        };
    });
}

void add_square_sum(const char* size, std::int64_t n) {
    const auto elements = static_cast<double>(n);
    const Work work{.flops = 2 * elements, .bytes = 4 * elements, .stream = Stream::read};
    add_case(fmt::format("square_sum/f32/{}", size), work, [n] {
        const auto x = random_floats(n, 1);
        std::vector<double> sums(static_cast<std::size_t>(ceil_div(n, piece)));
        return [=]() mutable {
            run_tiles(static_cast<std::int64_t>(sums.size()), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) {
                    sums[static_cast<std::size_t>(i)] =
                        kernels().optimizer.square_sum(x.data(), i * piece, std::min(n, (i + 1) * piece));
                }
            });
            benchmark::DoNotOptimize(sums.data());
        };
    });
}

/// All that follows the gradients in a training step: norm, clipping, AdamW, repacking of the weights. The model is one
/// of 20.0M parameters, 18.9M of them in the matrices of six layers, whose squares the products of the step have summed
/// already. Counted are the 28 bytes a parameter that have to move, and writing the packed copies.
void add_update() {
    const ModelSize model{"20M", 70, 1, 16, 512, 8, 6, 2048};
    const double width = 512, parameters = 6 * 13 * width + 2 * width + (70 + 2048) * width + 6 * 12 * width * width;
    const double packed = packed_bytes(model);
    const Work work{.flops = 14 * parameters,
                    .bytes = 28 * parameters + packed,
                    .stream = Stream::adamw,
                    .distinct_bytes = 16 * parameters + packed};
    add_case(fmt::format("adamw_clip_repack/f32/{}", model.name), work, [model] {
        auto training = std::make_shared<TrainingStep>(model);
        training->run({Phase::step});
        return [training] { training->run({Phase::update}); };
    });
}

}  // namespace

void register_optimizer() {
    add_adamw("20M", 20'000'000);
    add_adamw("64K", 1 << 16);
    add_sgd("20M", 20'000'000);
    add_update();
    add_square_sum("20M", 20'000'000);
    add_square_sum("64K", 1 << 16);
}

}  // namespace causeway::bench
