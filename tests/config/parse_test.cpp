#include <cmath>
#include <cstring>
#include <limits>

#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("an empty config takes every default and resolves what derives from it") {
    const Config config = parsed("{}");
    Config expected;
    expected.model.num_key_value_heads = 4;
    expected.model.head_dim = 32;
    expected.model.intermediate_size = 512;
    expected.data.validation_stride = 64;
    expected.train.sequence_length = 64;
    CHECK(config == expected);
    CHECK(parsed(R"({"model": {}, "data": {}, "train": {}, "runtime": {}})") == expected);
    CHECK(parsed(R"({"$schema": "causeway.schema.json"})") == expected);
}

TEST_CASE("every kind of field is read") {
    const Config config = parsed(R"({
        "model": {"hidden_size": 48, "num_attention_heads": 6, "position_embedding": "sinusoidal", "norm": "none",
                  "residual": false, "mlp": "none", "hidden_act": "gelu", "attention_bias": false, "mlp_bias": false,
                  "tie_word_embeddings": false, "lm_head_bias": true, "init": "pytorch", "initializer_range": 0.5,
                  "layer_norm_epsilon": 1e-6, "max_position_embeddings": 20},
        "data": {"path": "some/file.txt", "validation_fraction": 0.25, "sampling": "epoch"},
        "train": {"seed": 18446744073709551615, "optimizer": "adam", "lr_schedule": "linear", "learning_rate": 1E-2},
        "runtime": {"threads": 3, "isa": "reference", "attention": "explicit", "memory_reuse": false,
                    "memory_limit_mb": 100}})");
    CHECK(config.model.head_dim == 8);
    CHECK(config.model.intermediate_size == 0);  // there is no MLP
    CHECK(config.model.position_embedding == PositionKind::sinusoidal);
    CHECK(config.model.norm == NormKind::none);
    CHECK_FALSE(config.model.residual);
    CHECK(config.model.mlp == MlpKind::none);
    CHECK(config.model.hidden_act == Activation::gelu);
    CHECK_FALSE(config.model.attention_bias);
    CHECK_FALSE(config.model.mlp_bias);
    CHECK_FALSE(config.model.tie_word_embeddings);
    CHECK(config.model.lm_head_bias);
    CHECK(config.model.init == InitKind::pytorch);
    CHECK(config.model.initializer_range == 0.5);
    CHECK(config.model.layer_norm_epsilon == 1e-6);
    CHECK(config.data.path == "some/file.txt");
    CHECK(config.data.validation_fraction == 0.25);
    CHECK(config.data.sampling == Sampling::epoch);
    CHECK(config.data.validation_stride == 20);
    CHECK(config.train.seed == std::numeric_limits<std::uint64_t>::max());
    CHECK(config.train.optimizer == OptimizerKind::adam);
    CHECK(config.train.lr_schedule == LrSchedule::linear);
    CHECK(config.train.learning_rate == 0.01);
    CHECK(config.train.sequence_length == 20);
    CHECK(config.runtime.threads == 3);
    CHECK(config.runtime.isa == "reference");
    CHECK(config.runtime.attention == AttentionPath::explicit_weights);
    CHECK_FALSE(config.runtime.memory_reuse);
    CHECK(config.runtime.memory_limit_mb == 100);
}

TEST_CASE("whole numbers may be written as floats, as JSON Schema has it") {
    CHECK(parsed(section_with("train", "max_steps", "2e3")).train.max_steps == 2000);
    CHECK(parsed(section_with("train", "max_steps", "2000.0")).train.max_steps == 2000);
    CHECK(parsed(section_with("train", "seed", "0")).train.seed == 0);
    CHECK(parsed(section_with("train", "learning_rate", "1")).train.learning_rate == 1.0);
}

TEST_CASE("what to_json writes reads back to the same config, exactly") {
    Config config = parsed("{}");
    const double hard[] = {0.1, 1e-3, 1.0 / 3.0, 0.30000000000000004, std::nextafter(0.001, 1.0), 999.9999999999999};
    for (double value : hard) {
        config.train.learning_rate = value;
        const Config again = parsed(to_json(config));
        CHECK(std::memcmp(&again.train.learning_rate, &value, sizeof value) == 0);
        CHECK(again == config);
    }
    config.train.learning_rate = 5e-324;  // the smallest there is
    CHECK(parsed(to_json(config)) == config);
    config.train.seed = std::numeric_limits<std::uint64_t>::max();
    config.data.path = "K\xC3\xB6nig \"quoted\"\\\n\t.txt";
    CHECK(parsed(to_json(config)) == config);
    CHECK(to_json(parsed(to_json(config))) == to_json(config));
}

TEST_CASE("resolve_config checks and resolves a config made in C++ like a file") {
    Config config;
    config.model.hidden_size = 96;
    CHECK(resolve_config(config) == parsed(section_with("model", "hidden_size", "96")));
    CHECK(resolve_config(resolve_config(config)) == resolve_config(config));

    config.train.learning_rate = std::nan("");
    CHECK_THROWS_MESSAGE(resolve_config(config), ConfigError, "train.learning_rate: found nan, expected a number > 0");
    config.train.learning_rate = std::numeric_limits<double>::infinity();
    CHECK_THROWS_MESSAGE(resolve_config(config), ConfigError, "train.learning_rate: found inf");
    config = Config{};
    config.model.norm = static_cast<NormKind>(7);
    CHECK_THROWS_MESSAGE(resolve_config(config), ConfigError, "model.norm: found 7, expected one of: none, layernorm");
    config = Config{};
    config.model.num_attention_heads = 0;
    CHECK_THROWS_MESSAGE(resolve_config(config), ConfigError, "model.num_attention_heads: found 0");
    config = Config{};
    config.model.model_type = "bert";
    CHECK_THROWS_MESSAGE(resolve_config(config), ConfigError, "model.model_type: found the string \"bert\"");
    config = Config{};
    config.data.path = "\xFF.txt";
    CHECK_THROWS_MESSAGE(resolve_config(config), ConfigError, "data.path: ");
}
