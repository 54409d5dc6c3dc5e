#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("samples need a model that writes text") {
    const auto with = [](const std::string& sections, const std::string& more = "") {
        return R"({"train": {"sample_every": 5)" + more + "}" + sections + "}";
    };
    CHECK(parsed(with("")).train.sample_every == 5);
    CHECK_THAT(mistake_in(with(R"(, "data": {"source": "repeat"})")),
               contains("train.sample_every: found 5, expected 0: the tokens of a built-in task are no text"));
    CHECK_THAT(mistake_in(with(R"(, "data": {"source": "tokens", "path": "x.bin"})")),
               contains("train.sample_every: found 5, expected 0: token files without data.tokenizer"));
    CHECK_THAT(mistake_in(with(R"(, "model": {"causal": false})")),
               contains("train.sample_every: found 5, expected 0: model.causal is false"));
    CHECK_THAT(mistake_in(with("", R"(, "sample_prompt": "")")), contains("train.sample_prompt: found \"\""));
    CHECK(parsed(R"({"train": {"sample_prompt": ""}})").train.sample_prompt.empty());
}
