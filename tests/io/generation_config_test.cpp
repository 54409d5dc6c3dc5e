#include "io/generation_config.hpp"

#include "causeway/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

TEST_CASE("generation_config.json gives what it has and nothing else") {
    const TemporaryFolder folder;
    CHECK(!load_generation_config(folder.file("none.json")));
    const auto full = load_generation_config(folder.write("full.json", R"({"do_sample": true, "temperature": 0.6,
        "top_k": 20, "top_p": 0.95, "min_p": 0.1, "repetition_penalty": 1.1, "eos_token_id": [151645, 151643],
        "pad_token_id": 151643, "max_new_tokens": 7, "num_beams": 1, "transformers_version": "4.51.0"})"));
    REQUIRE(full);
    CHECK(full->do_sample);
    CHECK(full->temperature == 0.6);
    CHECK(full->top_k == 20);
    CHECK(full->top_p == 0.95);
    CHECK(full->min_p == 0.1);
    CHECK(full->repetition_penalty == 1.1);
    CHECK(full->max_new_tokens == 7);
    CHECK(full->eos_token_id == std::vector<std::int32_t>{151645, 151643});
    const auto gpt2 = load_generation_config(folder.write("gpt2.json", R"({"bos_token_id": 50256, "eos_token_id": 50256,
        "temperature": null})"));
    REQUIRE(gpt2);
    CHECK(!gpt2->do_sample);
    CHECK(!gpt2->temperature);
    CHECK(!gpt2->top_k);
    CHECK(gpt2->eos_token_id == std::vector<std::int32_t>{50256});
}

TEST_CASE("B54: a generation_config.json with a setting that cannot be followed is refused by name") {
    const TemporaryFolder folder;
    const auto error = [&](const char* text) { return folder.write("g.json", text); };
    CHECK_THROWS_MESSAGE(load_generation_config(error(R"({"num_beams": 4})")), IoError,
                         "num_beams: found 4, expected 1: this setting is not supported");
    CHECK_THROWS_MESSAGE(load_generation_config(error(R"({"no_repeat_ngram_size": 3})")), IoError,
                         "no_repeat_ngram_size: found 3, expected 0");
    CHECK_THROWS_MESSAGE(load_generation_config(error(R"({"top_p": "0.9"})")), IoError,
                         "top_p: found \"0.9\", expected a number");
    CHECK_THROWS_MESSAGE(load_generation_config(error(R"({"top_k": 2.5})")), IoError, "top_k: found 2.5");
    CHECK_THROWS_MESSAGE(load_generation_config(error(R"({"eos_token_id": "x"})")), IoError, "eos_token_id: found");
    CHECK_THROWS_MESSAGE(load_generation_config(error("[1]")), IoError, "g.json: is no JSON object");
    CHECK_THROWS_MESSAGE(load_generation_config(error("{")), IoError, "g.json: is no JSON object");
}
