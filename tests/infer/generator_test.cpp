#include "infer/generator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "infer/generation_defaults.hpp"
#include "io/run_folder.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
using namespace causeway::infer;

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

TEST_CASE("Greedy generation takes the largest logit of each step") {
    const TemporaryFolder folder;
    Generator generator = Generator::from_run(make_run(folder, small_config()));
    std::vector<std::int32_t> ids = counting(25);
    const std::vector<std::int32_t> tokens = generator.generate(ids, greedy(15));
    REQUIRE(tokens.size() == 15);
    for (const std::int32_t token : tokens) {
        const std::span<const float> logits = generator.next_logits(ids);
        CHECK(std::ranges::max_element(logits) - logits.begin() == token);
        ids.push_back(token);
    }
}

TEST_CASE("B30: beyond a context of 8 tokens the oldest half is forgotten") {
    const TemporaryFolder folder;
    const Config config = small_config({"model.max_position_embeddings=8"});
    Generator generator = Generator::from_run(make_run(folder, config));
    // Prompt 6 and 10 new tokens, 8 and 1, 9 and 3.
    for (const auto& [length, more] : {std::pair<std::size_t, std::int64_t>{6, 10}, {8, 1}, {9, 3}, {30, 2}}) {
        std::vector<std::int32_t> ids = counting(length);
        const std::vector<std::int32_t> tokens = generator.generate(ids, greedy(more));
        REQUIRE(static_cast<std::int64_t>(tokens.size()) == more);
        for (const std::int32_t token : tokens) {
            const std::size_t forgotten = ids.size() <= 8 ? 0 : (ids.size() - 8 + 3) / 4 * 4;
            const std::span<const float> logits = generator.next_logits(std::span(ids).subspan(forgotten));
            CHECK(std::ranges::max_element(logits) - logits.begin() == token);
            ids.push_back(token);
        }
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
    options.on_token = [&](std::int64_t, std::int32_t token) {
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

TEST_CASE("B29: with the cache, without it and in chunks of 1, 2, 7 the greedy tokens are the same") {
    const TemporaryFolder folder;
    const Config config = small_config({"model.max_position_embeddings=90"});
    const std::string run = make_run(folder, config);
    const std::vector<std::int32_t> prompt = counting(19);
    GenerationOptions options = greedy(64);
    Generator generator = Generator::from_run(run);
    const std::vector<std::int32_t> expected = generator.generate(prompt, options);
    CHECK(generator.times().prompt_tokens == 19);
    CHECK(generator.times().decoded_tokens == 63);
    options.cache = false;
    CHECK(generator.generate(prompt, options) == expected);
    options.cache = true;
    for (const std::int64_t chunk : {1, 2, 7}) {
        INFO("chunk " << chunk);
        Generator chunked = Generator::from_run(run, {}, {1, 0, chunk});
        CHECK(chunked.generate(prompt, options) == expected);
    }
    CHECK(expected.size() == 64);
    // Sliding too: the same window whatever is cached.
    options.max_new_tokens = 150;
    const std::vector<std::int32_t> longer = generator.generate(prompt, options);
    options.cache = false;
    CHECK(generator.generate(prompt, options) == longer);
}

TEST_CASE("B32, B42: prompts of several lengths side by side equal their single runs, each ending by itself") {
    const TemporaryFolder folder;
    for (const char* positions : {"learned", "sinusoidal", "rope", "none"}) {
        INFO(positions);
        const Config config = small_config({std::string("model.position_embedding=") + positions});
        const std::string run = make_run(folder, config);
        const std::vector<std::vector<std::int32_t>> prompts{counting(3), counting(7), {5}, {9, 8, 200, 1}};
        Generator batched = Generator::from_run(run, {}, {5, 0, 4});  // one row more than prompts
        Generator single = Generator::from_run(run);
        GenerationOptions options = greedy(20);
        const std::vector<std::int32_t> free = single.generate(prompts[1], options);
        options.eos_token_ids = {free[4], single.generate(prompts[0], options)[9], 256};
        const std::vector<Continuation> results = batched.generate(prompts, options);
        REQUIRE(results.size() == 4);
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            const Continuation alone = single.generate(std::span(&prompts[i], 1), options).front();
            CHECK(results[i].tokens == alone.tokens);
            CHECK(results[i].reason == alone.reason);
        }
        CHECK(results[1].tokens.size() <= 5);
        CHECK(results[1].reason == FinishReason::eos);
        CHECK(results[1].tokens.back() == options.eos_token_ids[results[1].tokens.back() == free[4] ? 0 : 1]);
    }
}

TEST_CASE("Each row of a batch draws its own random numbers, those of its number in the whole") {
    const TemporaryFolder folder;
    const std::string run = make_run(folder, small_config());
    Generator batched = Generator::from_run(run, {}, {3, 0, 512});
    Generator single = Generator::from_run(run);
    GenerationOptions options;
    options.max_new_tokens = 12;
    options.sampling.temperature = 3;
    const std::vector<std::vector<std::int32_t>> prompts(3, counting(5));
    const std::vector<Continuation> rows = batched.generate(prompts, options);
    CHECK(rows[0].tokens != rows[1].tokens);
    for (std::size_t i = 0; i < 3; ++i) {
        options.first_sequence = i;
        CHECK(single.generate(prompts[0], options) == rows[i].tokens);
    }
    const std::vector<std::vector<std::int32_t>> many(4, counting(5));
    CHECK_THROWS_MESSAGE(batched.generate(many, options), DataError, "found 4 prompts, expected at most 3");
}

TEST_CASE("Text ends before a stop string that spans tokens, and is shown when it can no longer be one") {
    const TemporaryFolder folder;
    Generator generator = Generator::from_run(make_run(folder, small_config()));
    const std::vector<std::int32_t> prompt{72, 105};
    GenerationOptions options = greedy(30);
    options.token_text = [](std::int32_t token) { return std::string(1, static_cast<char>(token)); };
    const auto prompts = std::vector<std::vector<std::int32_t>>{prompt};
    const Continuation whole = generator.generate(prompts, options).front();
    CHECK(whole.reason == FinishReason::length);
    REQUIRE(whole.text.size() == 30);
    options.stop = {whole.text.substr(9, 4), "never this"};
    std::string shown;
    options.on_text = [&](std::int64_t row, std::string_view text) {
        CHECK(row == 0);
        shown += text;
    };
    const std::size_t expected = whole.text.find(options.stop[0]);
    const Continuation stopped = generator.generate(prompts, options).front();
    CHECK(stopped.reason == FinishReason::stop);
    CHECK(stopped.text == whole.text.substr(0, expected));
    CHECK(shown == stopped.text);
    CHECK(stopped.tokens.size() == expected + 4);
    options.token_text = nullptr;
    CHECK_THROWS_MESSAGE(generator.generate(prompts, options), ConfigError, "stop: found strings");
}

TEST_CASE("The defaults of a model come from its folder, or from its family") {
    const TemporaryFolder folder;
    Config config = small_config();
    CHECK(default_generation(config, folder.file("")).sampling == SamplingOptions{});
    config.model.model_type = "minimind";
    const GenerationOptions family = default_generation(config, folder.file(""));
    CHECK(family.sampling.temperature == 0.85);
    CHECK(family.sampling.top_p == 0.85);
    CHECK(family.sampling.top_k == 50);
    CHECK(family.eos_token_ids == std::vector<std::int32_t>{2});
    folder.write("generation_config.json", R"({"do_sample": true, "top_k": 20, "eos_token_id": [7, 8]})");
    const GenerationOptions file = default_generation(config, folder.file(""));
    CHECK(file.sampling.temperature == 1);
    CHECK(file.sampling.top_p == 1);
    CHECK(file.sampling.top_k == 20);
    CHECK(file.eos_token_ids == std::vector<std::int32_t>{7, 8});
    folder.write("generation_config.json", "{}");
    CHECK(default_generation(config, folder.file("")).sampling.temperature == 0);
}

TEST_CASE("A run that does not fit its config is refused with every tensor named") {
    const TemporaryFolder folder;
    const std::string run = make_run(folder, small_config());
    CHECK_THROWS_MESSAGE(Generator::from_run(run, {"model.intermediate_size=64"}), IoError, "h.0.mlp");
    CHECK_THROWS_MESSAGE(Generator::from_run(folder.file("nowhere")), IoError, "nowhere");
}
