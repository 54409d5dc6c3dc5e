#include <algorithm>
#include <cmath>

#include "ops/op_cases.hpp"
#include "support/catch.hpp"
#include "support/graph_plan.hpp"

// Each operation of op_cases.hpp: its hand-derived gradient against central differences in double, and its float
// kernels of every instruction set against the double reference.

using namespace causeway;
using namespace causeway::test;

namespace {

const CaseSize sizes[] = {{2, 5, 3, 5, 11}, {1, 1, 2, 4, 7}, {1, 19, 1, 17, 37}};

Graph differentiated(const OpCase& op_case, const CaseSize& size, DType dtype) {
    OpGraph builder(size, dtype);
    return fuse_loss(emit_backward(op_case.build(builder), "loss"));
}

/// The first token is hidden as padding is, of the rest a query sees two in three.
void fill_masks(Executor& executor) {
    if (!executor.plan().has("mask")) return;
    const auto mask = executor.values<std::uint8_t>("mask");
    const auto length = static_cast<std::size_t>(executor.plan().value("mask").desc.shape.back());
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = (i / length + 2 * (i % length)) % 3 != 1 ? 1 : 0;
    const auto key_mask = executor.values<std::int32_t>("key_mask");
    for (std::size_t i = 0; i < key_mask.size(); ++i) key_mask[i] = i % length == 0 ? 0 : 1;
}

void fill_inputs(Executor& executor, const CaseSize& size) {
    fill_masks(executor);
    Numbers numbers(7);
    for (std::int32_t& id : executor.values<std::int32_t>("tokens"))
        id = numbers.below(static_cast<std::int32_t>(size.vocab));
    std::int64_t row = 0;
    for (std::int32_t& id : executor.values<std::int32_t>("targets")) {
        id = row++ % 4 == 3 ? -100 : numbers.below(static_cast<std::int32_t>(size.vocab));
    }
}

double loss_of(Executor& executor, const CaseSize& size) {
    fill_inputs(executor, size);
    executor.run(Phase::step, {});
    return executor.values<double>("loss")[0];
}

/// The derivative by central differences with one Richardson step: error O(h^4).
double difference(Executor& executor, const CaseSize& size, double& scalar) {
    const double at = scalar, h = 1e-3;
    const auto slope = [&](double step) {
        scalar = at + step;
        const double above = loss_of(executor, size);
        scalar = at - step;
        const double below = loss_of(executor, size);
        scalar = at;
        return (above - below) / (2 * step);
    };
    return (4 * slope(h / 2) - slope(h)) / 3;
}

}  // namespace

TEST_CASE("Every gradient agrees with central differences in double") {
    for (const OpCase& op_case : op_cases()) {
        for (const CaseSize& size : sizes) {
            INFO(op_case.name << ", B" << size.batch << " T" << size.length << " H" << size.heads << " Dh"
                              << size.head_dim);
            ModelRuntime runtime = runtime_of(differentiated(op_case, size, DType::f64), double_tables());
            runtime.initialize(3);
            Executor& executor = runtime.executor("test");
            loss_of(executor, size);
            std::vector<std::vector<double>> gradients;
            for (const NamedTensor& parameter : runtime.parameters()) {
                const auto values = executor.values<double>(parameter.name + ".grad");
                gradients.emplace_back(values.begin(), values.end());
            }
            std::size_t p = 0;
            for (const NamedTensor& parameter : runtime.parameters()) {
                INFO(parameter.name);
                double* scalars = parameter.view.as<double>();
                for (std::size_t i = 0; i < gradients[p].size(); i += 1 + gradients[p].size() / 40) {
                    const double expected = difference(executor, size, scalars[i]);
                    CHECK(gradients[p][i] == Approx(expected).epsilon(1e-7).margin(1e-8));
                }
                ++p;
            }
        }
    }
}

TEST_CASE("Every instruction set gives the reference's loss and gradients") {
    for (const OpCase& op_case : op_cases()) {
        for (const CaseSize& size : sizes) {
            ModelRuntime reference = runtime_of(differentiated(op_case, size, DType::f64), double_tables());
            reference.initialize(3);
            const double loss = loss_of(reference.executor("test"), size);
            for (Isa isa : available_isas()) {
                INFO(op_case.name << ", T" << size.length << ", " << to_string(isa));
                ModelRuntime runtime = runtime_of(differentiated(op_case, size, DType::f32), float_tables(isa));
                runtime.initialize(3);
                CHECK(loss_of(runtime.executor("test"), size) == Approx(loss).epsilon(1e-5));
                for (const NamedTensor& gradient : runtime.gradients()) {
                    INFO(gradient.name);
                    const auto expected = reference.executor("test").values<double>(gradient.name);
                    const auto found = runtime.executor("test").values<float>(gradient.name);
                    double error = 0, scale = 1;
                    for (std::size_t i = 0; i < found.size(); ++i) {
                        error = std::max(error, std::abs(found[i] - expected[i]));
                        scale = std::max(scale, std::abs(expected[i]));
                    }
                    CHECK(error <= 1e-5 * scale);
                }
            }
        }
    }
}

TEST_CASE("B06: a batch without a single valid target has loss and gradients of exactly 0") {
    const CaseSize size{2, 5, 3, 5, 11};
    const std::vector<OpCase> cases = op_cases();
    const OpCase& attention = *std::ranges::find(cases, "attention", &OpCase::name);
    for (Isa isa : available_isas()) {
        ModelRuntime runtime = runtime_of(differentiated(attention, size, DType::f32), float_tables(isa));
        runtime.initialize(3);
        Executor& executor = runtime.executor("test");
        fill_inputs(executor, size);
        for (std::int32_t& id : executor.values<std::int32_t>("targets")) id = -100;
        executor.run(Phase::step, {});
        CHECK(executor.values<double>("loss")[0] == 0);
        for (const NamedTensor& gradient : runtime.gradients()) {
            bool all_zero = true;
            for (float g : executor.values<float>(gradient.name)) all_zero = all_zero && g == 0.0f;
            CHECK(all_zero);
        }
    }
}

TEST_CASE("B08: two micro-batches accumulate to the gradient of both together") {
    const CaseSize half{1, 5, 3, 5, 11}, both{2, 5, 3, 5, 11};
    for (const OpCase& op_case : op_cases()) {
        INFO(op_case.name);
        ModelRuntime whole = runtime_of(differentiated(op_case, both, DType::f64), double_tables());
        ModelRuntime parts = runtime_of(differentiated(op_case, half, DType::f64), double_tables());
        whole.initialize(3);
        parts.initialize(3);
        loss_of(whole.executor("test"), both);
        const auto tokens = whole.executor("test").values<std::int32_t>("tokens");
        const auto targets = whole.executor("test").values<std::int32_t>("targets");
        for (std::size_t part : {0u, 1u}) {
            Executor& executor = parts.executor("test");
            std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(part * 5), 5,
                        executor.values<std::int32_t>("tokens").begin());
            std::copy_n(targets.begin() + static_cast<std::ptrdiff_t>(part * 5), 5,
                        executor.values<std::int32_t>("targets").begin());
            fill_masks(executor);
            RunArgs args;
            args.accumulate = part > 0;
            args.first_row = static_cast<std::int64_t>(part);
            executor.run(Phase::step, args);
        }
        for (const NamedTensor& gradient : whole.gradients()) {
            INFO(gradient.name);
            const auto expected = whole.executor("test").values<double>(gradient.name);
            const auto found = parts.executor("test").values<double>(gradient.name);
            for (std::size_t i = 0; i < expected.size(); i += 3) {
                CHECK(found[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
            }
        }
    }
}
