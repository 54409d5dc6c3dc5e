#include <cstring>

#include "attention_problem.hpp"
#include "attention_support.hpp"
#include "base/format.hpp"
#include "base/isa.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::kernels;
using namespace causeway::kernels::test;

TEST_CASE("attention: the reference backward agrees with finite differences") {
    for (const AttentionShape& shape :
         {AttentionShape{2, 2, 2, 5, 5, 3, 0.577, true}, AttentionShape{1, 4, 2, 3, 6, 4, 0.5, true},
          AttentionShape{1, 2, 1, 6, 3, 5, 0.447, true}, AttentionShape{1, 2, 2, 4, 7, 3, 0.577, false}}) {
        INFO(describe(Isa::reference, shape));
        Problem<double> problem(shape);
        const auto& reference = reference_table<double>().attention;
        problem.forward(reference);
        problem.backward(reference);
        const auto dq = problem.dq.values(), dk = problem.dk.values(), dv = problem.dv.values();
        check_differences(problem, problem.q, dq);
        check_differences(problem, problem.k, dk);
        check_differences(problem, problem.v, dv);
        Problem<double> stored(shape);
        stored.explicit_forward(reference);
        stored.explicit_backward(reference);
        CHECK(difference(stored.dq.values(), dq) < 1e-13);
        CHECK(difference(stored.dk.values(), dk) < 1e-13);
        CHECK(difference(stored.dv.values(), dv) < 1e-13);
    }
}

TEST_CASE("attention: tiled forward and backward match the reference on every ISA") {
    for (const AttentionShape& shape : awkward_shapes()) {
        Problem<double> expected(shape);
        expected.forward(reference_table<double>().attention);
        expected.backward(reference_table<double>().attention);
        for (Isa isa : available_isas()) {
            INFO(describe(isa, shape));
            Problem<float> got(shape);
            check_tiled(got, isa, expected);
        }
    }
}

TEST_CASE("attention: explicit forward and backward match the reference on every ISA") {
    auto shapes = awkward_shapes();
    shapes.push_back({1, 1, 1, 20, 20, 300, 0.0577, true});  // wider than the tiled path takes
    for (const AttentionShape& shape : shapes) {
        Problem<double> expected(shape);
        expected.explicit_forward(reference_table<double>().attention);
        expected.explicit_backward(reference_table<double>().attention);
        for (Isa isa : available_isas()) {
            INFO(describe(isa, shape));
            Problem<float> got(shape);
            check_explicit(got, isa, expected);
        }
    }
}

TEST_CASE("attention: explicit and tiled agree to 1e-6 on small inputs (S2-06, S2-07)") {
    for (Isa isa : available_isas()) {
        for (const AttentionShape& shape :
             {AttentionShape{2, 4, 4, 12, 12, 8, 0.354, true}, AttentionShape{1, 8, 8, 12, 12, 4, 0.5, true},
              AttentionShape{1, 2, 2, 10, 10, 16, 0.25, false}}) {
            INFO(describe(isa, shape));
            Problem<float> tiled(shape), stored(shape);
            tiled.forward(kernel_table(isa).attention);
            stored.explicit_forward(kernel_table(isa).attention);
            CHECK(difference(tiled.out.values(), stored.out.values()) < 1e-6);
        }
    }
}

TEST_CASE("attention: any split into tile ranges gives the same bits") {
    for (Isa isa : available_isas()) {
        for (const AttentionShape& shape : {AttentionShape{2, 4, 2, 200, 200, 24, 0.204, true},
                                            AttentionShape{1, 1, 1, 1100, 1100, 16, 0.25, true}}) {
            INFO(describe(isa, shape));
            Problem<float> whole(shape), split(shape);
            check_split(whole, split, isa);
        }
    }
}

TEST_CASE("attention: few instances are still cut into many balanced tiles") {
    for (Isa isa : available_isas()) {
        if (isa == Isa::reference) continue;
        const auto& kernels = kernel_table(isa).attention;
        CHECK(kernels.backward_tiles({1, 12, 12, 1024, 1024, 64, 0.125, true}) >= 12);
        CHECK(kernels.backward_tiles({1, 4, 4, 2048, 2048, 128, 0.088, true}) >= 16);
        CHECK(kernels.forward_tiles({1, 1, 1, 1024, 1024, 64, 0.125, true}) >= 16);
    }
}

TEST_CASE("B05: hidden keys have weight exactly 0 and later tokens leave earlier outputs bit-identical") {
    for (Isa isa : available_isas()) {
        for (const double magnitude : {1.0, 400.0}) {  // 400: scores down to -1e6
            const AttentionShape shape{1, 2, 1, 77, 77, 16, 1.0, true};
            INFO(describe(isa, shape) << " magnitude " << magnitude);
            Problem<float> before(shape);
            for (auto* input : {&before.q, &before.k}) {
                input->each([&](float& x) { x *= static_cast<float>(magnitude); });
            }
            if (magnitude > 1) {  // every visible score of query 0 far below any finite mask constant
                for (std::int64_t d = 0; d < 16; ++d) {
                    before.q.at(0, 0, 0, d) = 400;
                    before.k.at(0, 0, 0, d) = -400;
                }
            }
            Problem<float> after = before;
            const std::int64_t changed = 45;
            for (std::int64_t t = changed; t < shape.keys; ++t) {
                for (std::int64_t d = 0; d < shape.head_dim; ++d) {
                    after.k.at(0, t, 0, d) = static_cast<float>(1000 + t);
                    after.v.at(0, t, 0, d) = 1e30f;
                }
            }
            const auto& kernels = kernel_table(isa).attention;
            for (auto* problem : {&before, &after}) problem->forward(kernels);
            const std::size_t kept = static_cast<std::size_t>(changed * shape.heads * shape.head_dim);
            auto x = before.out.values(), y = after.out.values();
            x.resize(kept);
            y.resize(kept);
            CHECK(same_bits(x, y));
            for (auto* problem : {&before, &after}) problem->explicit_forward(kernels);
            x = before.out.values(), y = after.out.values();
            x.resize(kept);
            y.resize(kept);
            CHECK(same_bits(x, y));
            CHECK(before.out.at(0, 0, 0, 3) == before.v.at(0, 0, 0, 3));
            bool hidden_zero = true, rows_sum_to_one = true;
            for (std::int64_t row = 0; row < shape.heads * shape.queries; ++row) {
                const float* weights = before.weights.data() + row * shape.keys;
                double sum = 0;
                for (std::int64_t j = 0; j < shape.keys; ++j) {
                    if (j > row % shape.queries) hidden_zero = hidden_zero && weights[j] == 0.0f;
                    sum += static_cast<double>(weights[j]);
                }
                rows_sum_to_one = rows_sum_to_one && std::abs(sum - 1) < 1e-5;
            }
            CHECK(hidden_zero);
            CHECK(rows_sum_to_one);
        }
    }
}

TEST_CASE("B05: gradients stay bounded where scores are so large that rounding moves them by more than 100") {
    for (Isa isa : available_isas()) {
        const AttentionShape shape{1, 2, 1, 77, 77, 16, 1.0, true};
        INFO(describe(isa, shape));
        Problem<float> problem(shape);
        for (auto* input : {&problem.q, &problem.k}) input->each([](float& x) { x *= 3e4f; });  // scores of 1e10
        problem.forward(kernel_table(isa).attention);
        problem.backward(kernel_table(isa).attention);
        bool finite = true;
        for (auto* gradient : {&problem.dq, &problem.dk, &problem.dv}) {
            gradient->each([&](float& x) { finite = finite && std::isfinite(x); });
        }
        CHECK(finite);
        // No weight is above 1, so dV is at most the sum of |dO| over both heads and all queries.
        double most_dout = 0, most_dv = 0;
        problem.dout.each([&](float& x) { most_dout = std::max(most_dout, std::abs(static_cast<double>(x))); });
        problem.dv.each([&](float& x) { most_dv = std::max(most_dv, std::abs(static_cast<double>(x))); });
        CHECK(most_dv <= 2 * 77 * most_dout);
    }
}

TEST_CASE("B25: grouped heads read their own key head, whose gradient sums over them") {
    for (Isa isa : available_isas()) {
        const auto& kernels = kernel_table(isa).attention;
        const AttentionShape grouped{1, 4, 2, 9, 9, 8, 0.354, true};
        INFO(describe(isa, grouped));
        Problem<float> problem(grouped);
        for (std::int64_t t = 0; t < 9; ++t) {
            for (std::int64_t d = 0; d < 8; ++d) {
                problem.v.at(0, t, 0, d) = 1;
                problem.v.at(0, t, 1, d) = 2;
            }
        }
        problem.forward(kernels);
        for (std::int64_t h = 0; h < 4; ++h) CHECK(problem.out.at(0, 8, h, 5) == Approx(h < 2 ? 1 : 2).epsilon(1e-6));

        // The same problem with every key head written out for each of its query heads.
        Problem<float> small(grouped);
        AttentionShape full = grouped;
        full.kv_heads = 4;
        Problem<float> wide(full);
        wide.q = small.q;
        wide.dout = small.dout;
        for (std::int64_t t = 0; t < 9; ++t) {
            for (std::int64_t h = 0; h < 4; ++h) {
                for (std::int64_t d = 0; d < 8; ++d) {
                    wide.k.at(0, t, h, d) = small.k.at(0, t, h / 2, d);
                    wide.v.at(0, t, h, d) = small.v.at(0, t, h / 2, d);
                }
            }
        }
        small.forward(kernels);
        small.backward(kernels);
        wide.forward(kernels);
        wide.backward(kernels);
        double worst = 0;
        for (std::int64_t t = 0; t < 9; ++t) {
            for (std::int64_t g = 0; g < 2; ++g) {
                for (std::int64_t d = 0; d < 8; ++d) {
                    const double dk = wide.dk.at(0, t, 2 * g, d) + wide.dk.at(0, t, 2 * g + 1, d);
                    const double dv = wide.dv.at(0, t, 2 * g, d) + wide.dv.at(0, t, 2 * g + 1, d);
                    worst = std::max({worst, std::abs(dk - static_cast<double>(small.dk.at(0, t, g, d))),
                                      std::abs(dv - static_cast<double>(small.dv.at(0, t, g, d)))});
                }
            }
        }
        CHECK(worst < 1e-5);
    }
}

TEST_CASE("B28: after a past the mask is aligned bottom-right") {
    for (Isa isa : available_isas()) {
        const std::int64_t past = 37, chunk = 21;
        const AttentionShape shape{1, 1, 1, chunk, past + chunk, 8, 0.354, true};
        INFO(describe(isa, shape));
        Problem<float> problem(shape);
        for (auto* input : {&problem.q, &problem.k}) input->each([](float& x) { x = 0; });
        for (const bool tiled : {true, false}) {
            if (tiled) {
                problem.forward(kernel_table(isa).attention);
            } else {
                problem.explicit_forward(kernel_table(isa).attention);
            }
            for (std::int64_t i = 0; i < chunk; ++i) {
                double mean = 0;
                for (std::int64_t j = 0; j <= past + i; ++j) mean += static_cast<double>(problem.v.at(0, j, 0, 2));
                CHECK(problem.out.at(0, i, 0, 2) == Approx(mean / static_cast<double>(past + i + 1)).margin(1e-6));
            }
        }
    }
}

TEST_CASE("attention: queries without keys give 0, lse -inf and finite gradients") {
    for (Isa isa : available_isas()) {
        const AttentionShape shape{1, 2, 1, 100, 9, 8, 0.354, true};  // queries 0..90 see nothing
        INFO(describe(isa, shape));
        const auto& kernels = kernel_table(isa).attention;
        Problem<float> problem(shape);
        problem.forward(kernels);
        problem.backward(kernels);
        bool zero = true, finite = true;
        for (std::int64_t i = 0; i < 91; ++i) {
            for (std::int64_t h = 0; h < 2; ++h) {
                zero = zero &&
                       problem.lse[static_cast<std::size_t>(h * 100 + i)] == -std::numeric_limits<float>::infinity();
                for (std::int64_t d = 0; d < 8; ++d) {
                    zero = zero && problem.out.at(0, i, h, d) == 0 && problem.dq.at(0, i, h, d) == 0;
                }
            }
        }
        for (auto* gradient : {&problem.dq, &problem.dk, &problem.dv}) {
            gradient->each([&](float& x) { finite = finite && std::isfinite(x); });
        }
        CHECK(zero);
        CHECK(finite);
        problem.explicit_forward(kernels);
        CHECK(problem.out.at(0, 90, 1, 3) == 0);
        CHECK(problem.weights[90 * 9] == 0);
    }
}

TEST_CASE("S3-01: in ABCD token C sees A, B, C") {
    for (Isa isa : available_isas()) {
        Problem<float> problem({1, 1, 1, 4, 4, 5, 0.447, true});
        problem.explicit_forward(kernel_table(isa).attention);
        const float* row = problem.weights.data() + 2 * 4;
        CHECK(row[0] > 0);
        CHECK(row[1] > 0);
        CHECK(row[2] > 0);
        CHECK(row[3] == 0);
    }
}

TEST_CASE("attention: without lse, and a NaN in the input is not hidden") {
    for (Isa isa : available_isas()) {
        const AttentionShape shape{1, 1, 1, 20, 20, 8, 0.354, true};
        INFO(describe(isa, shape));
        Problem<float> with(shape), without(shape);
        with.forward(kernel_table(isa).attention);
        auto args = without.forward_args();
        args.lse = nullptr;
        kernel_table(isa).attention.forward(args, 0, kernel_table(isa).attention.forward_tiles(shape));
        CHECK(same_bits(with.out.values(), without.out.values()));
        CHECK(without.lse[0] == 7);
        with.k.at(0, 3, 0, 2) = std::numeric_limits<float>::quiet_NaN();
        with.forward(kernel_table(isa).attention);
        CHECK(std::isnan(with.out.at(0, 3, 0, 0)));
        CHECK(std::isnan(with.out.at(0, 19, 0, 7)));
        CHECK(std::isfinite(with.out.at(0, 2, 0, 0)));
    }
}
