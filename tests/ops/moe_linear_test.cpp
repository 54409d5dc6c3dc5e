#include <algorithm>
#include <cmath>

#include "ops/ops.hpp"
#include "support/catch.hpp"
#include "support/graph_plan.hpp"

// The grouped product for loads that a trained router seldom makes: experts without rows, all rows to one, many blocks.

using namespace causeway;
using namespace causeway::test;

namespace {

struct Sizes {
    std::int64_t n, k;
    std::vector<std::int32_t> loads;  ///< rows of each expert

    std::int64_t experts() const { return static_cast<std::int64_t>(loads.size()); }
    std::int64_t rows() const {
        std::int64_t sum = 0;
        for (const std::int32_t load : loads) sum += load;
        return sum;
    }
};

ValueId add(Graph& graph, const std::string& name, Role role, const TensorDesc& desc) {
    Value value;
    value.name = name;
    value.desc = desc;
    value.role = role;
    value.initializer = {Initializer::Kind::uniform, 0.5};
    value.keep = true;
    return graph.add_value(std::move(value));
}

/// y, dx and the weights' gradient of rows, weights and dy that a caller fills.
Graph products(const Sizes& sizes, DType dtype) {
    Graph graph;
    const std::int64_t m = sizes.rows(), experts = sizes.experts();
    const ValueId x = add(graph, "x", Role::input, {dtype, {m, sizes.k}});
    const ValueId dy = add(graph, "dy", Role::input, {dtype, {m, sizes.n}});
    const ValueId offsets = add(graph, "offsets", Role::input, {DType::i32, {experts + 1}});
    const ValueId weight = add(graph, "weight", Role::parameter, {dtype, {experts, sizes.n, sizes.k}});
    const ValueId gradient = add(graph, "weight.grad", Role::gradient, {dtype, {experts, sizes.n, sizes.k}});
    for (const ValueId result : {graph.emit(ops::moe_linear(), "y", {x, weight, offsets}),
                                 graph.emit(ops::moe_linear_input_gradient(), "dx", {dy, weight, offsets})}) {
        graph.value(result).role = Role::result;
    }
    graph.emit(ops::moe_linear_weight_gradient(), "dw", {dy, x, offsets, gradient});
    return graph;
}

template <class T>
void fill(ModelRuntime& runtime, const Sizes& sizes) {
    Executor& executor = runtime.executor("test");
    Numbers numbers(3);
    for (const char* name : {"x", "dy"}) {
        for (T& value : executor.values<T>(name)) value = static_cast<T>(numbers());
    }
    const std::span<std::int32_t> offsets = executor.values<std::int32_t>("offsets");
    offsets[0] = 0;
    for (std::size_t e = 0; e < sizes.loads.size(); ++e) offsets[e + 1] = offsets[e] + sizes.loads[e];
}

/// The three products by their formulas, row after row.
struct Expected {
    std::vector<double> y, dx, dw;

    Expected(ModelRuntime& runtime, const Sizes& sizes) {
        Executor& executor = runtime.executor("test");
        const auto x = executor.values<const double>("x"), dy = executor.values<const double>("dy"),
                   w = executor.values<const double>("weight");
        const auto n = static_cast<std::size_t>(sizes.n), k = static_cast<std::size_t>(sizes.k);
        y.resize(dy.size());
        dx.resize(x.size());
        dw.resize(w.size());
        std::size_t row = 0;
        for (std::size_t e = 0; e < sizes.loads.size(); ++e) {
            for (std::int32_t i = 0; i < sizes.loads[e]; ++i, ++row) {
                for (std::size_t a = 0; a < n; ++a) {
                    for (std::size_t b = 0; b < k; ++b) {
                        const std::size_t at = (e * n + a) * k + b;
                        y[row * n + a] += x[row * k + b] * w[at];
                        dx[row * k + b] += dy[row * n + a] * w[at];
                        dw[at] += dy[row * n + a] * x[row * k + b];
                    }
                }
            }
        }
    }
};

template <class T>
double worst(std::span<const T> found, const std::vector<double>& expected) {
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::abs(static_cast<double>(found[i]) - expected[i]);
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    return worst;
}

template <class T>
void check(ModelRuntime& runtime, const Expected& expected, double tolerance) {
    Executor& executor = runtime.executor("test");
    CHECK(worst(executor.values<const T>("y"), expected.y) <= tolerance);
    CHECK(worst(executor.values<const T>("dx"), expected.dx) <= tolerance);
    CHECK(worst(executor.values<const T>("dw"), expected.dw) <= tolerance);
}

const Sizes loads[] = {{7, 5, {3, 0, 4}},
                       {33, 40, {0, 0, 17, 0}},
                       {64, 48, {1, 128, 129, 300}},
                       {1, 1, {1}},
                       {100, 70, {0, 0, 260}},
                       {45, 33, {0, 0, 0, 0, 0, 0, 0, 1}},
                       {300, 64, {130, 2, 0, 128}},
                       {50, 37, {5, 0, 0, 0, 0, 0}}};

}  // namespace

TEST_CASE("Grouped products are right for every load of the experts, packed and unpacked") {
    for (const Sizes& sizes : loads) {
        CAPTURE(sizes.n, sizes.k, sizes.loads);
        ModelRuntime reference = runtime_of(products(sizes, DType::f64), double_tables());
        reference.initialize(5);
        fill<double>(reference, sizes);
        reference.executor("test").run(Phase::step, {});
        const Expected expected(reference, sizes);
        check<double>(reference, expected, 1e-12);
        for (const Isa isa : available_isas()) {
            INFO(to_string(isa));
            ModelRuntime runtime = runtime_of(products(sizes, DType::f32), float_tables(isa));
            runtime.initialize(5);
            fill<float>(runtime, sizes);
            runtime.executor("test").run(Phase::step, {});
            check<float>(runtime, expected, 2e-4);
        }
    }
}

TEST_CASE("An expert without rows has a gradient of exactly 0, or the one of the micro-batches before") {
    for (const Isa isa : available_isas()) {
        const Sizes sizes{70, 50, {3, 0, 200}};
        ModelRuntime runtime = runtime_of(products(sizes, DType::f32), float_tables(isa));
        runtime.initialize(5);
        fill<float>(runtime, sizes);
        Executor& executor = runtime.executor("test");
        std::ranges::fill(executor.values<float>("weight.grad"), 3.0f);
        executor.run(Phase::step, {});
        const auto idle = executor.values<const float>("dw").subspan(70 * 50, 70 * 50);
        CHECK(std::ranges::all_of(idle, [](float g) { return g == 0.0f; }));
        const std::vector<float> once(executor.values<const float>("dw").begin(),
                                      executor.values<const float>("dw").end());
        RunArgs again;
        again.accumulate = true;
        executor.run(Phase::step, again);
        CHECK(std::ranges::all_of(idle, [](float g) { return g == 0.0f; }));
        CHECK(executor.values<const float>("dw")[0] == Approx(2 * once[0]).epsilon(1e-5));
    }
}

TEST_CASE("Grouped products give the same bits on 1, 2, 3 and 8 threads") {
    const Sizes sizes{300, 256, {130, 2, 0, 700}};
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3, 8}) {
        ModelRuntime runtime = runtime_of(products(sizes, DType::f32), float_tables(available_isas().back()), threads);
        runtime.initialize(5);
        fill<float>(runtime, sizes);
        Executor& executor = runtime.executor("test");
        executor.run(Phase::step, {});
        std::vector<float> all;
        for (const char* name : {"y", "dx", "dw"}) {
            const auto values = executor.values<const float>(name);
            all.insert(all.end(), values.begin(), values.end());
        }
        results.push_back(std::move(all));
        CHECK(results.back() == results.front());
    }
}
