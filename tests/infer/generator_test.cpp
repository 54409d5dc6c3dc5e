#include "infer/generator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "io/run_folder.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

Config small_config(const std::vector<std::string>& overrides = {}) {
    return parse_config(R"({"model": {"vocab_size": 256, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 40, "initializer_range": 0.5},
        "data": {"source": "text", "path": "none.txt"}, "train": {"batch_size": 1}})",
                        "test", overrides);
}

/// A runtime of the whole-sequence logits plan with parameters from a seed, to compare with.
ModelRuntime make_reference(const Config& config) {
    SharedLayout shared;
    CompileOptions options;
    options.mode = Mode::logits;
    options.batch = 1;
    options.sequence_length = config.model.max_position_embeddings;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, options, shared));
    return ModelRuntime(std::move(plans), 1);
}

/// Saves a run with parameters from seed 3 and returns its folder.
std::string make_run(const TemporaryFolder& folder, const Config& config) {
    ModelRuntime runtime = make_reference(config);
    runtime.initialize(3);
    save_run({folder.file("run")}, config, runtime.parameters());
    return folder.file("run");
}

std::vector<std::int32_t> counting(std::size_t count) {
    std::vector<std::int32_t> ids(count);
    std::iota(ids.begin(), ids.end(), 60);
    return ids;
}

GenerationOptions greedy(std::int64_t count) {
    GenerationOptions options;
    options.max_new_tokens = count;
    options.sampling.temperature = 0;
    return options;
}

}  // namespace

TEST_CASE("Logits of every prefix length equal the row of the whole-sequence plan") {
    const TemporaryFolder folder;
    const Config config = small_config();
    Generator generator = Generator::from_run(make_run(folder, config));
    ModelRuntime reference = make_reference(config);
    reference.initialize(3);
    Executor& whole = reference.executor("logits");
    const std::vector<std::int32_t> ids = counting(40);
    std::ranges::copy(ids, whole.values<std::int32_t>("tokens").begin());
    whole.run(Phase::step, {});
    const std::span<const float> expected = whole.values<const float>("logits");
    for (std::size_t count = 1; count <= ids.size(); ++count) {  // over all of the plans' lengths and their ends
        const std::span<const float> logits = generator.next_logits(std::span(ids).first(count));
        REQUIRE(logits.size() == 256);
        double worst = 0;
        for (std::size_t v = 0; v < 256; ++v) {
            const double wanted = expected[(count - 1) * 256 + v];
            worst = std::max(worst, std::abs(logits[v] - wanted) / (1 + std::abs(wanted)));
        }
        CHECK(worst < 1e-5);
    }
}

TEST_CASE("Greedy generation takes the largest logit of each step, and the window slides past the context") {
    const TemporaryFolder folder;
    Generator generator = Generator::from_run(make_run(folder, small_config()));
    std::vector<std::int32_t> ids = counting(37);
    const std::vector<std::int32_t> tokens = generator.generate(ids, greedy(12));
    REQUIRE(tokens.size() == 12);
    for (const std::int32_t token : tokens) {
        const std::span<const std::int32_t> window = std::span(ids).last(std::min<std::size_t>(ids.size(), 40));
        const std::span<const float> logits = generator.next_logits(window);
        CHECK(std::ranges::max_element(logits) - logits.begin() == token);
        ids.push_back(token);
    }
}

TEST_CASE("Generation depends on the seed alone, and stops when told") {
    const TemporaryFolder folder;
    const std::string run = make_run(folder, small_config());
    Generator generator = Generator::from_run(run, {"runtime.threads=1"});
    Generator other = Generator::from_run(run, {"runtime.threads=3"});
    CHECK(other.threads() == 3);
    const std::vector<std::int32_t> prompt{72, 105};
    GenerationOptions options;
    options.max_new_tokens = 50;
    options.sampling.temperature = 2;
    const std::vector<std::int32_t> tokens = generator.generate(prompt, options);
    CHECK(tokens == generator.generate(prompt, options));
    CHECK(tokens == other.generate(prompt, options));
    options.sampling.seed = 43;
    CHECK(tokens != generator.generate(prompt, options));

    std::vector<std::int32_t> seen;
    options.on_token = [&](std::int32_t token) {
        seen.push_back(token);
        return seen.size() < 5;
    };
    CHECK(generator.generate(prompt, options) == seen);
    CHECK(seen.size() == 5);
    options.max_new_tokens = 0;
    CHECK(generator.generate(prompt, options).empty());
}

TEST_CASE("B58: prompts are checked like data") {
    Generator generator(small_config({"model.vocab_size=300"}));
    const std::vector<std::int32_t> high{1, 2, 300};
    const std::vector<std::int32_t> negative{-1};
    CHECK_THROWS_MESSAGE(generator.next_logits({}), DataError, "the prompt is empty");
    CHECK_THROWS_MESSAGE(generator.next_logits(high), DataError, "prompt: token 300 at position 2 is outside [0, 300)");
    CHECK_THROWS_MESSAGE(generator.generate(negative, {}), DataError, "prompt: token -1 at position 0");
    GenerationOptions options;
    options.max_new_tokens = -1;
    CHECK_THROWS_MESSAGE(generator.generate(std::vector<std::int32_t>{1}, options), ConfigError,
                         "max_new_tokens: found -1");
}

TEST_CASE("A run that does not fit its config is refused with every tensor named") {
    const TemporaryFolder folder;
    const std::string run = make_run(folder, small_config());
    CHECK_THROWS_MESSAGE(Generator::from_run(run, {"model.intermediate_size=64"}), IoError, "h.0.mlp");
    CHECK_THROWS_MESSAGE(Generator::from_run(folder.file("nowhere")), IoError, "nowhere");
}
