#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

template <class T>
struct Problem {
    explicit Problem(std::int64_t n)
        : param(random_values<T>(n, 1)),
          grad(random_values<T>(n, 2)),
          m(random_values<T>(n, 3, -0.1, 0.1)),
          v(random_values<T>(n, 4, 0, 0.01)) {}

    AdamWArgs<T> args(std::int64_t step) {
        AdamWArgs<T> args;
        args.param = param.data();
        args.grad = grad.data();
        args.m = m.data();
        args.v = v.data();
        args.learning_rate = 1e-3;
        args.beta1 = 0.9;
        args.beta2 = 0.99;
        args.weight_decay = 0.1;
        args.bias1 = 1 - std::pow(args.beta1, static_cast<double>(step));
        args.bias2 = 1 - std::pow(args.beta2, static_cast<double>(step));
        args.grad_scale = 0.37;
        return args;
    }

    SgdArgs<T> sgd_args(bool momentum) {
        SgdArgs<T> args;
        args.param = param.data();
        args.grad = grad.data();
        args.m = momentum ? m.data() : nullptr;
        args.learning_rate = 1e-2;
        args.momentum = momentum ? 0.9 : 0;
        args.weight_decay = 0.1;
        args.grad_scale = 0.37;
        return args;
    }

    bool margins_intact() const {
        return param.margins_intact() && grad.margins_intact() && m.margins_intact() && v.margins_intact();
    }

    Guarded<T> param, grad, m, v;
};

struct Start {
    float param, grad;
};

/// The parameter after its first step: beta 0.9 and 0.999, eps 1e-8, lr 1e-3.
double first_step(const KernelTable<float>& table, Start start, double weight_decay, double grad_scale = 1) {
    float param = start.param, m = 0, v = 0;
    AdamWArgs<float> args;
    args.param = &param;
    args.grad = &start.grad;
    args.m = &m;
    args.v = &v;
    args.learning_rate = 1e-3;
    args.weight_decay = weight_decay;
    args.bias1 = 1 - args.beta1;
    args.bias2 = 1 - args.beta2;
    args.grad_scale = grad_scale;
    table.optimizer.adamw(args, 0, 1);
    return static_cast<double>(param);
}

}  // namespace

TEST_CASE("AdamW agrees with the reference in double over ten steps") {
    for (const std::int64_t n : awkward_lengths()) {
        CAPTURE(n);
        Problem<double> expected(n);
        for (std::int64_t step = 1; step <= 10; ++step) {
            reference_table<double>().optimizer.adamw(expected.args(step), 0, n);
        }
        for_each_isa([&](const KernelTable<float>& table) {
            Problem<float> whole(n), pieces(n);
            for (std::int64_t step = 1; step <= 10; ++step) {
                table.optimizer.adamw(whole.args(step), 0, n);
                for (std::int64_t begin = 0, length = 1; begin < n; begin += length, ++length) {
                    table.optimizer.adamw(pieces.args(step), begin, std::min(n, begin + length));
                }
            }
            // One step's parameter is good to 2 ulp, ten steps' errors add up.
            CHECK(worst_error(whole.param, expected.param, 1e-6, 1e-6) <= 1);
            CHECK(worst_error(whole.m, expected.m, 1e-8, 1e-6) <= 1);
            CHECK(worst_error(whole.v, expected.v, 0, 3e-6) <= 1);
            CHECK(pieces.param.same_bits(whole.param));
            CHECK(pieces.m.same_bits(whole.m));
            CHECK(pieces.v.same_bits(whole.v));
            CHECK((whole.margins_intact() && pieces.margins_intact()));
        });
    }
}

TEST_CASE("One AdamW step is within a few ulp of the reference in double") {
    constexpr std::int64_t n = 4096;
    Problem<double> expected(n);
    reference_table<double>().optimizer.adamw(expected.args(3), 0, n);
    for_each_isa([&](const KernelTable<float>& table) {
        Problem<float> actual(n);
        table.optimizer.adamw(actual.args(3), 0, n);
        // Two roundings of a parameter of magnitude up to 1, and of an update of up to 0.02.
        CHECK(worst_error(actual.param, expected.param, 4e-9, 1.5e-7) <= 1);
        CHECK(worst_error(actual.v, expected.v, 0, 4e-7) <= 1);
    });
}

TEST_CASE("SGD agrees with the reference in double over ten steps, with and without momentum") {
    for (const std::int64_t n : awkward_lengths()) {
        for (const bool momentum : {true, false}) {
            CAPTURE(n, momentum);
            Problem<double> expected(n);
            for (int step = 0; step < 10; ++step) {
                reference_table<double>().optimizer.sgd(expected.sgd_args(momentum), 0, n);
            }
            for_each_isa([&](const KernelTable<float>& table) {
                Problem<float> whole(n), pieces(n);
                for (int step = 0; step < 10; ++step) {
                    table.optimizer.sgd(whole.sgd_args(momentum), 0, n);
                    for (std::int64_t begin = 0, length = 1; begin < n; begin += length, ++length) {
                        table.optimizer.sgd(pieces.sgd_args(momentum), begin, std::min(n, begin + length));
                    }
                }
                CHECK(worst_error(whole.param, expected.param, 1e-6, 1e-6) <= 1);
                CHECK(worst_error(whole.m, expected.m, 1e-6, 1e-6) <= 1);
                CHECK(pieces.param.same_bits(whole.param));
                CHECK(pieces.m.same_bits(whole.m));
                CHECK((whole.margins_intact() && pieces.margins_intact()));
            });
        }
    }
}

TEST_CASE("B36: weight decay alone: a zero gradient shrinks a matrix by lr times decay, others stay") {
    for_each_isa([](const KernelTable<float>& table) {
        for (const float value : {1.0f, -3.5f, 1e-6f}) {
            const auto before = static_cast<double>(value);
            CHECK(std::abs(first_step(table, {value, 0.0f}, 0.1) / before - 0.9999) <= 2e-7);
            CHECK(first_step(table, {value, 0.0f}, 0.0) == before);
        }
    });
}

TEST_CASE("B37: AdamW's first step") {
    for_each_isa([](const KernelTable<float>& table) {
        CHECK(std::abs(first_step(table, {1.0f, 0.5f}, 0.1) - 0.9989) <= 2e-7);
        // eps counts: |g| = eps halves the step.
        CHECK(std::abs(first_step(table, {1.0f, 1e-8f}, 0.1) - 0.9994) <= 2e-7);
        CHECK(std::abs(first_step(table, {1.0f, 1e-4f}, 0.1, 1e-4) - 0.9994) <= 2e-7);
    });
}

TEST_CASE("B21: norms of gradients of 1e20 do not overflow, and NaN and inf come through") {
    constexpr std::int64_t n = 100;
    for_each_isa([&](const KernelTable<float>& table) {
        Guarded<float> grad(n, 1e20f);
        const double norm = std::sqrt(table.optimizer.square_sum(grad.data(), 0, n));
        CHECK(std::abs(norm / 1e21 - 1) <= 1e-6);
        // Clipped to 1 each gradient is 0.1.
        CHECK(std::abs(static_cast<double>(grad[0]) / norm - 0.1) <= 1e-7);
        for (const std::int64_t place : {0, 50, 99}) {
            Guarded<float> bad = grad;
            bad[place] = std::numeric_limits<float>::infinity();
            CHECK(std::isinf(table.optimizer.square_sum(bad.data(), 0, n)));
            bad[place] = std::numeric_limits<float>::quiet_NaN();
            CHECK(std::isnan(table.optimizer.square_sum(bad.data(), 0, n)));
        }
    });
}

TEST_CASE("Sums of squares are as good as double") {
    for (const std::int64_t n : awkward_lengths()) {
        const auto x = random_values<float>(n, 7, -3, 3);
        const auto x_double = random_values<double>(n, 7, -3, 3);
        const double expected = reference_table<double>().optimizer.square_sum(x_double.data(), n / 5, n);
        for_each_isa([&](const KernelTable<float>& table) {
            CHECK(std::abs(table.optimizer.square_sum(x.data(), n / 5, n) - expected) <= 1e-13 * expected);
        });
    }
}
