#include "exec/finite_check.hpp"

#include <cmath>
#include <limits>

#include "exec/small_model.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

float* data_of(Executor& executor, const char* name) { return executor.values<float>(name).data(); }

}  // namespace

TEST_CASE("the first element that is not finite is found, in float and double") {
    std::vector<float> floats{1, -2, 3e38f, std::numeric_limits<float>::infinity(), not_a_number};
    const auto of_floats = first_not_finite({floats.data(), {DType::f32, {5}}});
    REQUIRE(of_floats);
    CHECK(of_floats->index == 3);
    CHECK(std::isinf(of_floats->value));
    std::vector<double> doubles{1, std::nan(""), 2};
    CHECK(first_not_finite({doubles.data(), {DType::f64, {3}}})->index == 1);
    doubles[1] = 1e308;
    CHECK(!first_not_finite({doubles.data(), {DType::f64, {3}}}));
    std::vector<std::int32_t> integers{-1, -1};
    CHECK(!first_not_finite({integers.data(), {DType::i32, {2}}}));
}

TEST_CASE("a run is traced to the op whose output stops being finite first, on any number of threads") {
    for (const int threads : {1, 3}) {
        ModelRuntime runtime = small_model(threads);
        runtime.initialize(1);
        Executor& executor = runtime.executor("train");
        CHECK(!find_not_finite(executor, Phase::step, {}));
        data_of(executor, "h.0.mlp.proj.bias")[7] = not_a_number;
        runtime.refresh();
        const auto found = find_not_finite(executor, Phase::step, {});
        REQUIRE(found);
        const std::string text = describe(executor.plan(), *found);
        CHECK_THAT(text, contains("'h.0.mlp.proj' (linear) is the first to give a value that is not finite, nan at "
                                  "element 7 of (4, 32, 96)") &&
                             contains("its parameter 'h.0.mlp.proj.bias' is nan at element 7"));
        data_of(executor, "h.0.mlp.proj.bias")[7] = 0;
        runtime.refresh();
        CHECK(!find_not_finite(executor, Phase::step, {}));
    }
}
