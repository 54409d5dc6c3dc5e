#include "exec/executor.hpp"

#include <cmath>
#include <cstring>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "support/catch.hpp"
#include "support/under_sanitizer.hpp"

using namespace causeway;

namespace {

Config config_of(const std::string& sections) {
    return parse_config(
        R"({"model": {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 3, "vocab_size": 97},
        "data": {"source": "repeat"}, "train": {"batch_size": 5, "sequence_length": 33, "max_grad_norm": 1, "weight_decay": 0.1})" +
            sections + "}",
        "test");
}

std::vector<ExecutionPlan> train_plan(const Config& config) {
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, {}, shared));
    return plans;
}

void fill(Executor& executor, std::int64_t step) {
    std::int32_t i = static_cast<std::int32_t>(step);
    for (std::int32_t& id : executor.values<std::int32_t>("tokens")) id = (i++ * 31) % 97;
    for (std::int32_t& id : executor.values<std::int32_t>("targets")) id = (i++ * 17) % 97;
}

/// All parameters and losses after some steps, bit by bit.
std::vector<std::byte> run(const Config& config, int threads, int steps) {
    ModelRuntime runtime(train_plan(config), threads);
    runtime.initialize(9);
    Executor& executor = runtime.executor("train");
    std::vector<std::byte> bytes;
    for (std::int64_t step = 1; step <= steps; ++step) {
        RunArgs args;
        args.step = step;
        args.learning_rate = 1e-3;
        args.valid_tokens = 2 * 5 * 33;
        for (bool second : {false, true}) {
            fill(executor, 2 * step + second);
            args.accumulate = second;
            executor.run(Phase::step, args);
        }
        executor.run(Phase::update, args);
        const auto* loss = reinterpret_cast<const std::byte*>(executor.values<double>("loss").data());
        bytes.insert(bytes.end(), loss, loss + sizeof(double));
    }
    for (const NamedTensor& tensor : runtime.parameters()) {
        const auto* data = tensor.view.as<const std::byte>();
        bytes.insert(bytes.end(), data, data + tensor.view.desc.bytes());
    }
    return bytes;
}

}  // namespace

TEST_CASE("B67: threads 1, 2, 3 and 8 give the same bits over 50 steps on every instruction set") {
    constexpr int steps = under_sanitizer ? 5 : 50;
    for (Isa isa : available_isas()) {
        if (isa == Isa::reference) continue;
        INFO(to_string(isa));
        const Config config = config_of(R"(, "runtime": {"isa": ")" + std::string(to_string(isa)) + "\"}");
        const std::vector<std::byte> one = run(config, 1, steps);
        for (int threads : {2, 3, 8}) CHECK(run(config, threads, steps) == one);
    }
}

TEST_CASE("The update renews the packed copies that a new packing would make") {
    // The second linear of the MLP is packed in both forms.
    const Config config = parse_config(R"({"model": {"num_hidden_layers": 1, "hidden_size": 256, "vocab_size": 50},
        "data": {"source": "repeat"}, "train": {"batch_size": 4, "sequence_length": 33, "max_grad_norm": 1}})",
                                       "test");
    ModelRuntime runtime(train_plan(config), 2);
    runtime.initialize(9);
    Executor& executor = runtime.executor("train");
    const auto packed = [&] {
        std::vector<std::vector<float>> copies;
        for (std::int32_t i : executor.plan().with_role(Role::packed)) {
            if (executor.plan().values[static_cast<std::size_t>(i)].storage != i) continue;
            const auto values = executor.values<const float>(i);
            copies.emplace_back(values.begin(), values.end());
        }
        return copies;
    };
    const auto at_first = packed();
    RunArgs args;
    args.learning_rate = 1e-2;
    args.valid_tokens = 4 * 33;
    for (std::int32_t& id : executor.values<std::int32_t>("tokens")) id = 7;
    for (std::int32_t& id : executor.values<std::int32_t>("targets")) id = 9;
    executor.run(Phase::step, args);
    executor.run(Phase::update, args);
    const auto updated = packed();
    executor.run(Phase::pack, args);
    CHECK(at_first.size() == (executor.plan().isa == Isa::reference ? 0 : 6));
    CHECK(at_first != updated);
    CHECK(updated == packed());
}

TEST_CASE("A plan without memory reuse, poisoned after each value's death, gives the same bits") {
    for (const char* attention : {"tiled", "explicit"}) {
        const std::string path = std::string(R"("attention": ")") + attention + "\"";
        const std::vector<std::byte> reused = run(config_of(R"(, "runtime": {)" + path + "}"), 2, 5);
        CHECK(run(config_of(R"(, "runtime": {"memory_reuse": false, )" + path + "}"), 2, 5) == reused);
    }
}

namespace {
/// The update reads the gradients for their norm, so that a test can change them after the step.
constexpr const char* norm_after_step = R"(, "runtime": {"fuse_gradient_norm": false})";
}  // namespace

TEST_CASE("B21: a gradient that is not finite leaves parameters and moments as they were") {
    ModelRuntime runtime(train_plan(config_of(norm_after_step)), 1);
    runtime.initialize(9);
    Executor& executor = runtime.executor("train");
    fill(executor, 1);
    RunArgs args;
    args.valid_tokens = 165;
    args.learning_rate = 1e-3;
    executor.run(Phase::step, args);
    executor.values<float>("h.0.mlp.fc.weight.grad")[3] = INFINITY;
    const auto weights = executor.values<float>("h.0.mlp.fc.weight");
    const std::vector<float> before(weights.begin(), weights.end());
    executor.run(Phase::update, args);
    CHECK(std::isinf(executor.values<double>("grad_norm")[0]));
    CHECK(std::memcmp(weights.data(), before.data(), before.size() * sizeof(float)) == 0);
    for (float m : executor.values<float>("h.0.mlp.fc.weight.m")) REQUIRE(m == 0.0f);
}

TEST_CASE("B21: a hundred gradients of 1e20 have norm 1e21 and are clipped to 0.1 each") {
    Config config = config_of(norm_after_step);
    config.train.weight_decay = 0;
    config.train.adam_beta1 = 0;  // m is then the clipped gradient itself
    ModelRuntime runtime(train_plan(config), 1);
    Executor& executor = runtime.executor("train");
    for (const NamedTensor& tensor : runtime.gradients()) {
        std::memset(tensor.view.data, 0, static_cast<std::size_t>(tensor.view.desc.bytes()));
    }
    const auto gradient = executor.values<float>("h.0.mlp.fc.weight.grad");
    for (std::size_t i = 0; i < 100; ++i) gradient[i] = 1e20f;
    RunArgs args;
    args.valid_tokens = 1;
    args.learning_rate = 1e-3;
    executor.run(Phase::update, args);
    CHECK(executor.values<double>("grad_norm")[0] == Approx(1e21).epsilon(1e-6));
    CHECK(executor.values<float>("h.0.mlp.fc.weight.m")[7] == Approx(0.1).epsilon(1e-5));
}

TEST_CASE("A plan larger than the limit is refused with both figures before anything is reserved") {
    const Config config = config_of("");
    CHECK_THROWS_MESSAGE(ModelRuntime(train_plan(config), 1, 1 << 20), CapacityError,
                         "the configured limit is 1.0 MiB");
    Config huge = config_of("");
    huge.train.batch_size = 60000;
    huge.train.sequence_length = huge.model.max_position_embeddings;
    CHECK_THROWS_MESSAGE(ModelRuntime(train_plan(huge), 1), CapacityError, "this process may take");
}

TEST_CASE("Initial values come from the seed alone") {
    ModelRuntime a(train_plan(config_of("")), 1), b(train_plan(config_of("")), 3);
    a.initialize(4);
    b.initialize(4);
    const auto of = [](ModelRuntime& runtime) {
        const auto values = runtime.executor("train").values<float>("h.1.attn.qkv.weight");
        return std::vector<float>(values.begin(), values.end());
    };
    CHECK(of(a) == of(b));
    b.initialize(5);
    CHECK(of(a) != of(b));
    double sum = 0, squares = 0;
    const std::vector<float> values = of(a);
    for (float v : values) {
        sum += v;
        squares += static_cast<double>(v) * v;
    }
    CHECK(std::abs(sum / static_cast<double>(values.size())) < 0.001);
    CHECK(std::sqrt(squares / static_cast<double>(values.size())) == Approx(0.02).epsilon(0.03));
}

TEST_CASE("Asking a plan for what it does not have names it") {
    ModelRuntime runtime(train_plan(config_of("")), 1);
    CHECK_THROWS_MESSAGE(runtime.executor("eval"), GraphError, "not compiled for mode 'eval'");
    CHECK_THROWS_MESSAGE(runtime.executor("train").values<float>("h.9"), GraphError, "has no value named 'h.9'");
}
