#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("an override sets any field, over the file") {
    const std::string file = R"({"model": {"hidden_size": 32}, "train": {"seed": 1, "max_steps": 5}})";
    const Config config = parsed(file, {"train.learning_rate=1e-3", "train.seed=7", "train.max_steps=100",
                                        "train.batch_size=3", "runtime.threads=2", "runtime.isa=sse2",
                                        "train.lr_schedule=linear", "model.residual=false", "data.path=a b=c.txt"});
    CHECK(config.train.learning_rate == 1e-3);
    CHECK(config.train.seed == 7);
    CHECK(config.train.max_steps == 100);
    CHECK(config.train.batch_size == 3);
    CHECK(config.runtime.threads == 2);
    CHECK(config.runtime.isa == "sse2");
    CHECK(config.train.lr_schedule == LrSchedule::linear);
    CHECK_FALSE(config.model.residual);
    CHECK(config.data.path == "a b=c.txt");
    CHECK(config.model.hidden_size == 32);
}

TEST_CASE("overrides come before derived fields and rules, the last of two wins") {
    const Config config =
        parsed("{}", {"model.hidden_size=64", "model.max_position_embeddings=16", "model.hidden_size=48"});
    CHECK(config.model.head_dim == 12);
    CHECK(config.model.intermediate_size == 192);
    CHECK(config.train.sequence_length == 16);
    CHECK(parsed(section_with("model", "num_attention_heads", "3"), {"model.hidden_size=9"}).model.head_dim == 3);
    CHECK_THAT(mistake_in("{}", {"model.num_attention_heads=3"}),
               contains("model.num_attention_heads: found 3, expected a divisor of model.hidden_size (128) unless "
                        "model.head_dim is given (in test.json with overrides)"));
}

TEST_CASE("strings may be bare or quoted, and a file may be called 123 or true") {
    CHECK(parsed("{}", {"data.path=\"quoted.txt\""}).data.path == "quoted.txt");
    CHECK(parsed("{}", {"data.path=123"}).data.path == "123");
    CHECK(parsed("{}", {"data.path=true"}).data.path == "true");
    CHECK(parsed(section_with("data", "path", "\"x\""), {"data.path="}).data.path.empty());
    CHECK(parsed("{}", {"train.optimizer=\"adam\""}).train.optimizer == OptimizerKind::adam);
}

TEST_CASE("B70: a wrong override is as clear as a wrong file, and names itself") {
    const auto mistake = [](const std::string& assignment) { return mistake_in("{}", {assignment}); };
    CHECK_THAT(mistake("train.learing_rate=1"),
               contains("train.learing_rate: unknown field, did you mean \"train.learning_rate\"?"));
    CHECK_THAT(mistake("train.learing_rate=1"), contains("(in override train.learing_rate=1)"));
    CHECK_THAT(mistake("learning_rate=1e-3"), contains("it belongs to section \"train\" as \"train.learning_rate\""));
    CHECK_THAT(mistake("model.learning_rate=1e-3"), contains("but it belongs to \"train\""));
    CHECK_THAT(mistake("modle.hidden_size=1"), contains("modle: unknown section, did you mean \"model\"?"));
    CHECK_THAT(mistake("train.learning_rate=fast"),
               contains("train.learning_rate: found the string \"fast\", expected a"));
    CHECK_THAT(mistake("train.learning_rate=\"1e-4\""), contains("remove the quotes"));
    CHECK_THAT(mistake("train.learning_rate=nan"), contains("train.learning_rate: found the string \"nan\""));
    CHECK_THAT(mistake("train.learning_rate=1e999"), contains("train.learning_rate: found the string \"1e999\""));
    CHECK_THAT(mistake("train.learning_rate="), contains("train.learning_rate: found no value, expected a number > 0"));
    CHECK_THAT(mistake("train.learning_rate=1,5"), contains("train.learning_rate: found the string \"1,5\""));
    CHECK_THAT(mistake("train.batch_size=1.5"), contains("train.batch_size: found 1.5, expected an integer"));
    CHECK_THAT(mistake("train.batch_size=0"), contains("train.batch_size: found 0, expected an integer"));
    CHECK_THAT(mistake("train.lr_schedule=cosin"), contains("did you mean \"cosine\"?"));
    CHECK_THAT(mistake("train.lr_schedule=3"), contains("train.lr_schedule: found the string \"3\", expected one of"));
    CHECK_THAT(mistake("train.seed"), contains("train.seed: expected section.field=value"));
    CHECK_THAT(mistake("train={}"), contains("train: is a section; expected section.field=value"));
    CHECK_THAT(mistake("=3"), contains("override: expected section.field=value"));
    CHECK_THAT(mistake(""), contains("override: expected section.field=value"));
    CHECK_THAT(mistake("train.seed.x=3"), contains("train.seed.x: unknown field"));
    CHECK_THAT(mistake("data.path=\xFF"), contains("data.path: found the string"));
}
