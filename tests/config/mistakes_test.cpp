#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

struct Wrong {
    const char* section;
    const char* key;
    const char* value;
    const char* message;  // what the message must start with
};

void check_message(const Wrong& wrong) {
    INFO(wrong.section << "." << wrong.key << " = " << wrong.value);
    const std::string message = mistake_in(section_with(wrong.section, wrong.key, wrong.value));
    CAPTURE(message);
    CHECK(message.substr(0, std::string(wrong.message).size()) == wrong.message);
    CHECK_THAT(message, contains("(in test.json)"));
}

}  // namespace

TEST_CASE("B70: a misspelt field gives its path, the nearest name and the fields there are") {
    const std::string message = mistake_in(section_with("train", "learing_rate", "1e-3"));
    CHECK_THAT(message, contains("train.learing_rate: unknown field, did you mean \"train.learning_rate\"?"));
    CHECK_THAT(message, contains("fields of \"train\": seed, batch_size, sequence_length"));
    CHECK_THAT(mistake_in(section_with("model", "hiddensize", "1")), contains("did you mean \"model.hidden_size\"?"));
    CHECK_THAT(mistake_in(section_with("model", "learningRate", "1")),
               contains("did you mean \"train.learning_rate\"?"));
    CHECK_THAT(mistake_in(section_with("runtime", "thread", "1")), contains("did you mean \"runtime.threads\"?"));
    CHECK_THAT(mistake_in(section_with("train", "", "1")), contains("train.: unknown field; fields of"));
    const std::string far = mistake_in(section_with("model", "xylophone", "1"));
    CHECK_THAT(far, contains("model.xylophone: unknown field; fields of \"model\": model_type, vocab_size"));
    CHECK(far.find("did you mean") == std::string::npos);
}

TEST_CASE("B70: a field of another project is answered with its name here") {
    CHECK_THAT(mistake_in(section_with("model", "n_embd", "8")), contains("did you mean \"model.hidden_size\"?"));
    CHECK_THAT(mistake_in(section_with("model", "n_inner", "null")),
               contains("did you mean \"model.intermediate_size\"?"));
    CHECK_THAT(mistake_in(section_with("train", "lr", "1e-3")), contains("did you mean \"train.learning_rate\"?"));
    CHECK_THAT(mistake_in(section_with("train", "block_size", "8")),
               contains("did you mean \"train.sequence_length\"?"));
    CHECK_THAT(mistake_in(section_with("model", "block_size", "8")),
               contains("did you mean \"model.max_position_embeddings\"?"));
    CHECK_THAT(mistake_in(section_with("train", "d_model", "8")), contains("did you mean \"model.hidden_size\"?"));
}

TEST_CASE("B70: a misplaced field names the section it belongs to") {
    CHECK_THAT(
        mistake_in(section_with("model", "learning_rate", "1e-3")),
        contains("model.learning_rate: \"learning_rate\" found in section \"model\", but it belongs to \"train\""));
    CHECK_THAT(mistake_in(section_with("train", "hidden_size", "8")), contains("but it belongs to \"model\""));
    CHECK_THAT(mistake_in(R"({"learning_rate": 1e-3})"),
               contains("learning_rate: found at the top level, but it belongs to section \"train\" as "
                        "\"train.learning_rate\""));
}

TEST_CASE("B70: unknown sections and sections that are no objects") {
    CHECK_THAT(mistake_in(R"({"modle": {}})"),
               contains("modle: unknown section, did you mean \"model\"?; sections: model, data, train, runtime"));
    CHECK_THAT(mistake_in(R"({"trian": {}})"), contains("trian: unknown section, did you mean \"train\"?"));
    CHECK_THAT(mistake_in(R"({"wxyz": 1})"), contains("wxyz: unknown section; sections: model, data"));
    CHECK_THAT(mistake_in(R"({"model": []})"), contains("model: found an array, expected an object"));
    CHECK_THAT(mistake_in(R"({"train": null})"), contains("train: found null, expected an object"));
    CHECK_THAT(mistake_in(R"({"$schema": 3})"), contains("$schema: found 3, expected a string"));
}

TEST_CASE("B70: values of the wrong type") {
    const Wrong cases[] = {
        {"train", "learning_rate", "\"1e-4\"",
         "train.learning_rate: found the string \"1e-4\", expected a number > 0 and <= 1000; remove the quotes"},
        {"train", "learning_rate", "\"fast\"", "train.learning_rate: found the string \"fast\", expected a number"},
        {"train", "learning_rate", "true", "train.learning_rate: found true, expected a number > 0"},
        {"train", "learning_rate", "null", "train.learning_rate: found null, expected a number > 0"},
        {"train", "learning_rate", "[1e-3]", "train.learning_rate: found an array, expected a number > 0"},
        {"train", "batch_size", "1.5", "train.batch_size: found 1.5, expected an integer from 1 to 65536"},
        {"train", "batch_size", "\"12\"",
         "train.batch_size: found the string \"12\", expected an integer from 1 to 65536; remove the quotes"},
        {"train", "batch_size", "false", "train.batch_size: found false, expected an integer"},
        {"train", "batch_size", "{}", "train.batch_size: found an object, expected an integer"},
        {"model", "residual", "1", "model.residual: found 1, expected true or false"},
        {"model", "residual", "\"true\"",
         "model.residual: found the string \"true\", expected true or false; remove the quotes"},
        {"data", "path", "3", "data.path: found 3, expected a string"},
        {"data", "path", "\"a\\u0000b\"", "data.path: found the string \"a\\u0000b\", expected a string without NUL"},
        {"model", "norm", "true", "model.norm: found true, expected one of: none, layernorm"},
    };
    for (const Wrong& wrong : cases) check_message(wrong);
}

TEST_CASE("B70: values out of range give the range, ends included or not") {
    const Wrong cases[] = {
        {"train", "batch_size", "0", "train.batch_size: found 0, expected an integer from 1 to 65536"},
        {"train", "batch_size", "-1", "train.batch_size: found -1, expected an integer from 1 to 65536"},
        {"train", "batch_size", "65537", "train.batch_size: found 65537, expected an integer from 1 to 65536"},
        {"train", "adam_beta1", "1", "train.adam_beta1: found 1, expected a number >= 0 and < 1"},
        {"train", "adam_beta2", "1.0", "train.adam_beta2: found 1, expected a number >= 0 and < 1"},
        {"train", "adam_beta2", "-0.1", "train.adam_beta2: found -0.1, expected a number >= 0 and < 1"},
        {"train", "adam_epsilon", "0", "train.adam_epsilon: found 0, expected a number >= 1e-30"},
        {"train", "learning_rate", "0", "train.learning_rate: found 0, expected a number > 0 and <= 1000"},
        {"train", "learning_rate", "-1e-3", "train.learning_rate: found -0.001, expected a number > 0"},
        {"train", "learning_rate", "1e300", "train.learning_rate: found 1e+300, expected a number > 0"},
        {"train", "weight_decay", "-1", "train.weight_decay: found -1, expected a number >= 0"},
        {"train", "max_grad_norm", "-1", "train.max_grad_norm: found -1, expected a number >= 0"},
        {"train", "max_steps", "-1", "train.max_steps: found -1, expected an integer from 0"},
        {"train", "seed", "-1", "train.seed: found -1, expected an integer from 0 to 18446744073709551615"},
        {"train", "warmup_steps", "-1", "train.warmup_steps: found -1, expected an integer from 0"},
        {"train", "gradient_accumulation_steps", "0", "train.gradient_accumulation_steps: found 0"},
        {"data", "validation_fraction", "0", "data.validation_fraction: found 0, expected a number > 0 and < 1"},
        {"data", "validation_fraction", "1", "data.validation_fraction: found 1, expected a number > 0 and < 1"},
        {"data", "lookback", "0", "data.lookback: found 0, expected an integer from 1"},
        {"model", "vocab_size", "0", "model.vocab_size: found 0, expected an integer from 1"},
        {"model", "hidden_size", "0", "model.hidden_size: found 0, expected an integer from 1"},
        {"model", "num_hidden_layers", "0", "model.num_hidden_layers: found 0, expected an integer from 1"},
        {"model", "layer_norm_epsilon", "0", "model.layer_norm_epsilon: found 0, expected a number >= 1e-12"},
        {"runtime", "threads", "-1", "runtime.threads: found -1, expected an integer from 0"},
        {"runtime", "memory_limit_mb", "-1", "runtime.memory_limit_mb: found -1, expected an integer from 0"},
    };
    for (const Wrong& wrong : cases) check_message(wrong);
}

TEST_CASE("B70: an unknown name lists the known ones and the nearest") {
    const Wrong cases[] = {
        {"model", "model_type", "\"gpt5\"",
         "model.model_type: found the string \"gpt5\", expected one of: causeway, gpt2"},
        {"model", "norm", "\"layernrom\"",
         "model.norm: found the string \"layernrom\", expected one of: none, layernorm, rmsnorm; did you mean "
         "\"layernorm\"?"},
        {"model", "norm", "\"LayerNorm\"",
         "model.norm: found the string \"LayerNorm\", expected one of: none, layernorm, rmsnorm; did you mean "
         "\"layernorm\"?"},
        {"model", "norm_placement", "\"middle\"",
         "model.norm_placement: found the string \"middle\", expected one of: pre"},
        {"model", "position_embedding", "\"rotary\"",
         "model.position_embedding: found the string \"rotary\", expected one of"},
        {"model", "mlp", "\"swiglu\"", "model.mlp: found the string \"swiglu\", expected one of: none, plain, gated"},
        {"model", "hidden_act", "\"mish\"",
         "model.hidden_act: found the string \"mish\", expected one of: gelu, gelu_new, silu, relu"},
        {"model", "init", "\"xavier\"", "model.init: found the string \"xavier\", expected one of: gpt2, pytorch"},
        {"data", "source", "\"indution\"",
         "data.source: found the string \"indution\", expected one of: text, jsonl, chat, tokens, repeat, "
         "lookback_copy, induction; did you mean \"induction\"?"},
        {"data", "sampling", "\"shuffle\"",
         "data.sampling: found the string \"shuffle\", expected one of: random, epoch"},
        {"train", "optimizer", "\"lion\"",
         "train.optimizer: found the string \"lion\", expected one of: adamw, adam, sgd"},
        {"train", "lr_schedule", "\"cosin\"",
         "train.lr_schedule: found the string \"cosin\", expected one of: constant, linear, cosine, minimind, wsd, "
         "inverse_sqrt; did you mean "
         "\"cosine\"?"},
        {"runtime", "isa", "\"avx\"",
         "runtime.isa: found the string \"avx\", expected one of: auto, reference, sse2, avx2, avx512, neon; did you "
         "mean "
         "\"avx2\"?"},
        {"runtime", "attention", "\"flash\"",
         "runtime.attention: found the string \"flash\", expected one of: tiled, explicit"},
    };
    for (const Wrong& wrong : cases) check_message(wrong);
}

TEST_CASE("a message shows a long string cut, between characters") {
    std::string umlauts;
    for (int i = 0; i < 100; ++i) umlauts += "\xC3\xB6";
    const std::string message = mistake_in(section_with("model", "norm", "\"" + umlauts + "\""));
    CHECK(message.size() < 300);
    CHECK_THAT(message, contains("\xC3\xB6...\", expected one of"));
}

TEST_CASE("B70: a message is one line, whatever the keys and overrides contain") {
    CHECK_THAT(mistake_in("{\"tr\\nain\": {}}"), contains("tr\\x0aain: unknown section, did you mean \"train\"?"));
    CHECK_THAT(mistake_in(section_with("train", "a\\u001b[1mb", "1")), contains("train.a\\x1b[1mb: unknown field"));
    CHECK_THAT(mistake_in("{\"a\\n\": 1, \"a\\n\": 2}"), contains("a\\x0a: the key appears twice"));
    CHECK_THAT(mistake_in("{\"a\\n\": x}"), contains("unexpected 'x' (at a\\x0a)"));
    CHECK_THAT(mistake_in("{}", {"train.seed=1\n2"}), contains("(in override train.seed=1\\x0a2)"));
}

TEST_CASE("every variant of attention and dropout is accepted in its range") {
    const auto model_with = [](const char* key, const char* value) {
        return parsed(section_with("model", key, value)).model;
    };
    CHECK(!model_with("causal", "false").causal);
    CHECK(model_with("sliding_window", "7").sliding_window == 7);
    CHECK(model_with("attention_scale", "0.5").attention_scale == 0.5);
    CHECK(model_with("attention_dropout", "1").attention_dropout == 1);
    CHECK(model_with("position_embedding", "\"alibi\"").position_embedding == PositionKind::alibi);
    CHECK_THAT(mistake_in(section_with("model", "resid_pdrop", "1.2")), contains("model.resid_pdrop: found 1.2"));
    CHECK_THAT(mistake_in(section_with("model", "sliding_window", "-1")), contains("model.sliding_window: found -1"));
}

TEST_CASE("a field of an object inside a section has the object's name in its path") {
    CHECK_THAT(mistake_in(section_with("model", "rope_parameters", R"({"rope_theta": 0.5})")),
               contains("model.rope_parameters.rope_theta: found 0.5, expected a number >= 1"));
    CHECK_THAT(mistake_in(section_with("model", "rope_parameters", R"({"theta": 2})")),
               contains("model.rope_parameters.theta: unknown field"));
    CHECK_THAT(mistake_in(section_with("model", "rope_parameters", "3")),
               contains("model.rope_parameters: found 3, expected an object"));
}
