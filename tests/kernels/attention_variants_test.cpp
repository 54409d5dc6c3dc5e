#include <cstring>

#include "attention_problem.hpp"
#include "attention_support.hpp"
#include "base/format.hpp"
#include "base/isa.hpp"
#include "support/catch.hpp"

// Attention beyond the causal mask: windows, masks, padding, ALiBi and dropout, alone and together.

using namespace causeway;
using namespace causeway::kernels;
using namespace causeway::kernels::test;

namespace {

/// What a problem gets beside its shape.
struct Variation {
    const char* name;
    std::int64_t window;
    bool mask, full_mask, padding, alibi;
    double dropout;

    template <class T>
    void apply(Problem<T>& problem) const {
        if (mask) problem.hide_at_random(full_mask);
        if (padding) problem.pad_keys();
        if (alibi) problem.add_alibi();
        if (dropout > 0) problem.dropout = dropout_mask(dropout, 42, 7, 3, 100);
    }
};

const Variation variations[] = {
    {"window 1", 1, false, false, false, false, 0},    {"window 5", 5, false, false, false, false, 0},
    {"window 70", 70, false, false, false, false, 0},  {"one mask", 0, true, false, false, false, 0},
    {"a mask a head", 0, true, true, false, false, 0}, {"padding", 0, false, false, true, false, 0},
    {"ALiBi", 0, false, false, false, true, 0},        {"dropout", 0, false, false, false, false, 0.3},
    {"everything", 40, true, true, true, true, 0.5},
};

std::vector<AttentionShape> variation_shapes() {
    return {{2, 3, 3, 13, 13, 5, 0.447, true},     {1, 2, 2, 13, 13, 8, 0.354, false},
            {3, 4, 2, 97, 97, 24, 0.2, true},      {2, 2, 1, 130, 130, 20, 0.2, false},
            {1, 6, 2, 33, 70, 64, 0.125, true},    {1, 2, 1, 70, 33, 31, 0.18, true},
            {1, 2, 2, 70, 33, 40, 0.158, false},   {1, 1, 1, 81, 81, 256, 0.06, true},
            {2, 6, 2, 1, 301, 64, 0.125, true},    {2, 2, 1, 1, 90, 9, 0.3, false},
            {1, 2, 1, 1030, 1030, 12, 0.29, true}, {1, 1, 1, 600, 700, 33, 0.17, false},
            {1, 1, 1, 300, 300, 7, 0.3, false}};
}

template <class T>
bool finite(Problem<T>& problem) {
    bool all = true;
    for (auto* tensor : {&problem.out, &problem.dq, &problem.dk, &problem.dv}) {
        tensor->each([&](T& x) { all = all && std::isfinite(x); });
    }
    return all;
}

}  // namespace

TEST_CASE("attention variants: tiled and explicit paths match the reference on every ISA") {
    for (AttentionShape shape : variation_shapes()) {
        for (const Variation& variation : variations) {
            shape.window = variation.window;
            Problem<double> expected(shape), stored(shape);
            variation.apply(expected);
            variation.apply(stored);
            expected.forward(reference_table<double>().attention);
            expected.backward(reference_table<double>().attention);
            stored.explicit_forward(reference_table<double>().attention);
            stored.explicit_backward(reference_table<double>().attention);
            INFO(variation.name);
            CHECK(finite(expected));
            CHECK(difference(stored.out.values(), expected.out.values()) < 1e-12);
            CHECK(difference(stored.dk.values(), expected.dk.values()) < 1e-12);
            for (Isa isa : available_isas()) {
                INFO(describe(isa, shape));
                Problem<float> tiled(shape), explicitly(shape);
                variation.apply(tiled);
                variation.apply(explicitly);
                check_tiled(tiled, isa, expected);
                check_explicit(explicitly, isa, stored);
            }
        }
    }
}

TEST_CASE("attention variants: the reference backward agrees with finite differences") {
    for (AttentionShape shape :
         {AttentionShape{2, 2, 1, 7, 7, 3, 0.577, true}, AttentionShape{2, 2, 2, 5, 8, 3, 0.577, false}}) {
        for (Variation variation : variations) {
            INFO(variation.name);
            shape.window = std::min<std::int64_t>(variation.window, 3);
            Problem<double> problem(shape);
            variation.apply(problem);
            problem.forward(reference_table<double>().attention);
            problem.backward(reference_table<double>().attention);
            const auto dq = problem.dq.values(), dk = problem.dk.values(), dv = problem.dv.values();
            check_differences(problem, problem.q, dq);
            check_differences(problem, problem.k, dk);
            check_differences(problem, problem.v, dv);
        }
    }
}

TEST_CASE("attention variants: any split into tile ranges gives the same bits") {
    for (Isa isa : available_isas()) {
        for (AttentionShape shape : {AttentionShape{2, 4, 2, 200, 200, 24, 0.204, true},
                                     AttentionShape{1, 1, 1, 1100, 1100, 16, 0.25, true}}) {
            shape.window = 150;
            INFO(describe(isa, shape));
            Problem<float> whole(shape), split(shape);
            for (auto* problem : {&whole, &split}) variations[8].apply(*problem);
            check_split(whole, split, isa);
        }
    }
}

TEST_CASE("B01: left-padded queries give 0 and the other rows equal the unpadded run") {
    for (Isa isa : available_isas()) {
        INFO(to_string(isa));
        const std::int64_t pad = 29, tokens = 60;
        const auto& kernels = kernel_table(isa).attention;
        Problem<float> alone({1, 2, 1, tokens, tokens, 16, 0.25, true});
        Problem<float> padded({1, 2, 1, pad + tokens, pad + tokens, 16, 0.25, true});
        padded.key_mask.assign(static_cast<std::size_t>(pad + tokens), 1);
        std::fill_n(padded.key_mask.begin(), pad, 0);
        for (std::int64_t t = 0; t < tokens; ++t) {
            for (std::int64_t d = 0; d < 16; ++d) {
                padded.k.at(0, pad + t, 0, d) = alone.k.at(0, t, 0, d);
                padded.v.at(0, pad + t, 0, d) = alone.v.at(0, t, 0, d);
                for (std::int64_t h = 0; h < 2; ++h) {
                    padded.q.at(0, pad + t, h, d) = alone.q.at(0, t, h, d);
                    padded.dout.at(0, pad + t, h, d) = alone.dout.at(0, t, h, d);
                }
            }
        }
        for (const bool tiled : {true, false}) {
            for (auto* problem : {&alone, &padded}) {
                if (tiled) {
                    problem->forward(kernels);
                    problem->backward(kernels);
                } else {
                    problem->explicit_forward(kernels);
                    problem->explicit_backward(kernels);
                }
            }
            bool zero = true;
            double worst = 0;
            for (std::int64_t t = 0; t < pad + tokens; ++t) {
                for (std::int64_t d = 0; d < 16; ++d) {
                    for (std::int64_t h = 0; h < 2; ++h) {
                        if (t < pad) {
                            zero = zero && padded.out.at(0, t, h, d) == 0 && padded.dq.at(0, t, h, d) == 0;
                            continue;
                        }
                        worst = std::max<double>({worst,
                                                  std::abs(padded.out.at(0, t, h, d) - alone.out.at(0, t - pad, h, d)),
                                                  std::abs(padded.dq.at(0, t, h, d) - alone.dq.at(0, t - pad, h, d))});
                    }
                    if (t < pad) {
                        zero = zero && padded.dk.at(0, t, 0, d) == 0 && padded.dv.at(0, t, 0, d) == 0;
                    } else {
                        worst =
                            std::max<double>({worst, std::abs(padded.dk.at(0, t, 0, d) - alone.dk.at(0, t - pad, 0, d)),
                                              std::abs(padded.dv.at(0, t, 0, d) - alone.dv.at(0, t - pad, 0, d))});
                    }
                }
            }
            CHECK(zero);
            CHECK(worst < 1e-5);
            CHECK(finite(padded));
        }
        CHECK(padded.lse[0] == -std::numeric_limits<float>::infinity());
        CHECK(padded.weights[0] == 0);
    }
}

TEST_CASE("B05: what a mask hides has weight exactly 0 and no influence, however large the scores") {
    for (Isa isa : available_isas()) {
        AttentionShape shape{1, 2, 2, 77, 77, 16, 1.0, false};
        INFO(describe(isa, shape));
        Problem<float> before(shape);
        before.hide_at_random(true);
        for (auto* input : {&before.q, &before.k}) input->each([](float& x) { x *= 400; });  // scores down to -1e6
        for (std::int64_t head = 0; head < 2; ++head) {  // key 45 is hidden from all
            for (std::int64_t i = 0; i < 77; ++i) before.mask[static_cast<std::size_t>((head * 77 + i) * 77 + 45)] = 0;
        }
        Problem<float> after = before;
        for (std::int64_t h = 0; h < 2; ++h) {
            for (std::int64_t d = 0; d < 16; ++d) {
                after.k.at(0, 45, h, d) = 1e6f;
                after.v.at(0, 45, h, d) = 1e30f;
            }
        }
        for (auto* problem : {&before, &after}) problem->forward(kernel_table(isa).attention);
        CHECK(same_bits(before.out.values(), after.out.values()));
        for (auto* problem : {&before, &after}) problem->explicit_forward(kernel_table(isa).attention);
        CHECK(same_bits(before.out.values(), after.out.values()));
        CHECK(same_bits(before.weights, after.weights));
        bool hidden = true;
        for (std::size_t i = 0; i < after.weights.size(); ++i) {
            hidden = hidden && (after.mask[i] != 0 || after.weights[i] == 0.0f);
        }
        CHECK(hidden);
    }
}

TEST_CASE("B26: ALiBi's slopes") {
    const auto check = [](const std::vector<double>& slopes, const std::vector<double>& expected) {
        REQUIRE(slopes.size() == expected.size());
        for (std::size_t i = 0; i < slopes.size(); ++i) CHECK(slopes[i] == Approx(expected[i]).epsilon(1e-5));
    };
    check(alibi_slopes(8), {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625});
    check(alibi_slopes(3), {.0625, .00390625, .25});
    check(alibi_slopes(6), {.25, .0625, .015625, .00390625, .5, .125});
    check(alibi_slopes(12),
          {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625, .707107, .353553, .176777, .0883883});
}

TEST_CASE("B33: attention dropout keeps the mean, and at rate 1 leaves 0") {
    for (Isa isa : available_isas()) {
        const AttentionShape shape{1, 4, 4, 200, 200, 16, 0.25, false};
        INFO(describe(isa, shape));
        Problem<float> problem(shape);
        problem.v.each([](float& x) { x = 1; });  // outputs are then the sums of the dropped weights
        problem.dropout = dropout_mask(0.2, 1, 1, 0, 0);
        problem.forward(kernel_table(isa).attention);
        double mean = 0;
        for (const float x : problem.out.values()) mean += static_cast<double>(x) / (200.0 * 4 * 16);
        CHECK(mean == Approx(1).margin(0.01));
        problem.dropout = dropout_mask(1, 1, 1, 0, 0);
        problem.forward(kernel_table(isa).attention);
        problem.backward(kernel_table(isa).attention);
        bool zero = true;
        for (auto* tensor : {&problem.out, &problem.dq, &problem.dk, &problem.dv}) {
            tensor->each([&](float& x) { zero = zero && x == 0; });
        }
        CHECK(zero);
    }
}
