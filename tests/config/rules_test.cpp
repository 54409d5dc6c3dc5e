#include "base/format.hpp"
#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("S1-06, B57: heads must divide the hidden size, and the message has both") {
    CHECK_THAT(mistake_in(R"({"model": {"hidden_size": 10, "num_attention_heads": 3}})"),
               contains("model.num_attention_heads: found 3, expected a divisor of model.hidden_size (10) unless "
                        "model.head_dim is given"));
    CHECK_THAT(mistake_in(R"({"model": {"hidden_size": 10, "num_attention_heads": 0}})"),
               contains("model.num_attention_heads: found 0, expected an integer from 1"));
    CHECK_THAT(mistake_in(R"({"model": {"hidden_size": 4, "num_attention_heads": 8}})"),
               contains("found 8, expected a divisor of model.hidden_size (4)"));
    CHECK(parsed(R"({"model": {"hidden_size": 24, "num_attention_heads": 6}})").model.head_dim == 4);
    CHECK(parsed(R"({"model": {"hidden_size": 15, "num_attention_heads": 3}})").model.head_dim == 5);
    CHECK(parsed(R"({"model": {"hidden_size": 7, "num_attention_heads": 1}})").model.head_dim == 7);
}

TEST_CASE("B53: head_dim may be given, and then need not divide anything") {
    CHECK(parsed(R"({"model": {"hidden_size": 40, "num_attention_heads": 4, "head_dim": 16}})").model.head_dim == 16);
    CHECK(parsed(R"({"model": {"hidden_size": 40, "num_attention_heads": 4}})").model.head_dim == 10);
    const Config config = parsed(R"({"model": {"hidden_size": 10, "num_attention_heads": 3, "head_dim": 3}})");
    CHECK(config.model.head_dim == 3);
    CHECK(parsed(to_json(config)) == config);
}

TEST_CASE("B57: key-value heads must divide the query heads") {
    CHECK_THAT(mistake_in(R"({"model": {"num_attention_heads": 4, "num_key_value_heads": 3}})"),
               contains("model.num_key_value_heads: found 3, expected a divisor of model.num_attention_heads (4)"));
    CHECK_THAT(mistake_in(R"({"model": {"num_attention_heads": 4, "num_key_value_heads": 8}})"),
               contains("model.num_key_value_heads: found 8, expected a divisor"));
    for (const std::int64_t kv_heads : {1, 2, 4}) {
        CHECK(
            parsed(section_with("model", "num_key_value_heads", std::to_string(kv_heads))).model.num_key_value_heads ==
            kv_heads);
    }
}

TEST_CASE("B57: experts are gated MLPs without biases, and a token goes through no more than there are") {
    const auto experts = [](const std::string& fields) {
        return R"({"model": {"num_experts": 4, "mlp": "gated", "mlp_bias": false, )" + fields + "}}";
    };
    CHECK_THAT(mistake_in(R"({"model": {"num_experts": 4, "mlp_bias": false}})"),
               contains("model.mlp: expected gated: model.num_experts is 4, and experts are gated MLPs"));
    CHECK_THAT(mistake_in(R"({"model": {"num_experts": 4, "mlp": "gated"}})"),
               contains("model.mlp_bias: found true, expected false: model.num_experts is 4"));
    CHECK_THAT(mistake_in(experts(R"("num_experts_per_tok": 5)")),
               contains("model.num_experts_per_tok: found 5, expected at most 4: model.num_experts is 4"));
    CHECK_THAT(mistake_in(R"({"model": {"moe_intermediate_size": 7}})"),
               contains("model.moe_intermediate_size: found 7, expected 0: model.num_experts is 0"));
    CHECK_THAT(mistake_in(experts(R"("router_aux_loss_scope": "token")")), contains("one of: layer, model"));
    CHECK(parsed(experts(R"("intermediate_size": 24)")).model.moe_intermediate_size == 24);
    CHECK(parsed(experts(R"("moe_intermediate_size": 7, "num_experts_per_tok": 4)")).model.moe_intermediate_size == 7);
    const Config config = parsed(experts(R"("router_aux_loss_scope": "model")"));
    CHECK(config.model.router_aux_loss_scope == AuxLossScope::model);
    CHECK(parsed(to_json(config)) == config);
}

TEST_CASE("B57: rotation needs an even head_dim, and its settings need rotation") {
    CHECK_THAT(mistake_in(R"({"model": {"hidden_size": 15, "num_attention_heads": 3, "position_embedding": "rope"}})"),
               contains("model.head_dim: found 5, expected an even number: model.position_embedding rope turns pairs"));
    CHECK_THAT(mistake_in(R"({"model": {"rope_parameters": {"rope_theta": 5000.0}}})"),
               contains("model.rope_parameters: found settings, expected none: model.position_embedding is not rope"));
}

TEST_CASE("B54, B57: a rope setting that the scaling would ignore is refused, and so is one out of order") {
    const auto rope = [](const std::string& fields) {
        return R"({"model": {"position_embedding": "rope", "rope_parameters": {)" + fields + "}}}";
    };
    CHECK_THAT(mistake_in(rope(R"("factor": 4.0)")),
               contains("model.rope_parameters.factor: found 4, expected 1 with rope_type default: only linear, "
                        "dynamic, llama3, yarn reads it"));
    CHECK_THAT(mistake_in(rope(R"("rope_type": "linear", "factor": 2.0, "beta_fast": 16.0)")),
               contains("beta_fast: found 16, expected 32 with rope_type linear: only yarn reads it"));
    CHECK_THAT(mistake_in(rope(R"("rope_type": "linear", "original_max_position_embeddings": 16)")),
               contains("original_max_position_embeddings: found 16, expected 0 with rope_type linear"));
    CHECK_THAT(mistake_in(rope(R"("rope_type": "llama3", "factor": 2.0, "low_freq_factor": 4.0)")),
               contains("low_freq_factor: found 4, expected less than high_freq_factor (4)"));
    CHECK_THAT(mistake_in(rope(R"("rope_type": "yarn", "factor": 2.0, "beta_slow": 33.0)")),
               contains("beta_slow: found 33, expected at most beta_fast (32)"));
    CHECK_THAT(mistake_in(rope(R"("rope_type": "yarn", "factor": 0.5)")),
               contains("model.rope_parameters.factor: found 0.5, expected at least 1"));
    CHECK_THAT(mistake_in(rope(R"("rope_type": "yarn", "rope_theta": 1.0)")),
               contains("rope_theta: found 1, expected more than 1 with rope_type yarn"));
    CHECK_THAT(mistake_in(R"({"model": {"hidden_size": 8, "num_attention_heads": 4, "position_embedding": "rope",
                              "rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}})"),
               contains("model.head_dim: found 2, expected at least 4 with rope_type dynamic"));
    CHECK(parsed(rope(R"("rope_type": "yarn", "factor": 16.0, "attention_factor": 1.0)"))
              .model.rope_parameters.attention_factor == 1.0);
}

TEST_CASE("fields without what they refer to are refused") {
    CHECK_THAT(mistake_in(R"({"model": {"norm": "none", "norm_placement": "post"}})"),
               contains("model.norm_placement: found post, expected pre: model.norm is none"));
    CHECK(parsed(R"({"model": {"norm": "none", "norm_placement": "pre"}})").model.norm == NormKind::none);
    CHECK_THAT(mistake_in(R"({"model": {"mlp": "none", "intermediate_size": 64}})"),
               contains("model.intermediate_size: found 64, expected 0: model.mlp is none"));
    CHECK_THAT(mistake_in(R"({"data": {"source": "repeat", "path": "a.txt"}})"),
               contains("data.path: found \"a.txt\", expected \"\": data.source repeat has no use for it"));
    CHECK_THAT(mistake_in(R"({"train": {"optimizer": "adam", "weight_decay": 0.1}})"),
               contains("train.weight_decay: found 0.1, expected 0 with train.optimizer adam"));
}

TEST_CASE("S1-12: a sequence longer than the context is refused") {
    CHECK_THAT(mistake_in(R"({"model": {"max_position_embeddings": 16}, "train": {"sequence_length": 17}})"),
               contains("train.sequence_length: found 17, expected at most model.max_position_embeddings (16)"));
    const Config config = parsed(R"({"model": {"max_position_embeddings": 16}, "train": {"sequence_length": 16}})");
    CHECK(config.train.sequence_length == 16);
    CHECK(parsed(R"({"model": {"max_position_embeddings": 16}, "train": {"sequence_length": 1}})")
              .train.sequence_length == 1);
}

TEST_CASE("B58: the vocabulary must hold what the data source yields") {
    CHECK_THAT(mistake_in(R"({"model": {"vocab_size": 255}, "data": {"path": "a.txt"}})"),
               contains("model.vocab_size: found 255, expected at least 256: data.source text"));
    CHECK_THAT(mistake_in(R"({"model": {"vocab_size": 255}, "data": {"mixture": [{"path": "a"}], "source": "jsonl"}})"),
               contains("model.vocab_size: found 255, expected at least 256: data.source jsonl"));
    CHECK(parsed(R"({"model": {"vocab_size": 5}, "data": {"path": "a.bin", "source": "tokens"}})").model.vocab_size ==
          5);
    CHECK(parsed(R"({"model": {"vocab_size": 5}, "data": {"path": "a", "tokenizer": "t"}})").model.vocab_size == 5);
    CHECK(parsed(section_with("model", "vocab_size", "256")).model.vocab_size == 256);
    CHECK(parsed(R"({"model": {"vocab_size": 5}, "data": {"source": "repeat"}})").model.vocab_size == 5);
}

TEST_CASE("fields of data that mean nothing to the source are refused by name") {
    const auto mistake = [](const std::string& source, const std::string& field) {
        return mistake_in(R"({"data": {"source": ")" + source + R"(", )" + field + "}}");
    };
    CHECK_THAT(mistake("text", R"("token_type": "uint32")"),
               contains("data.token_type: found \"uint32\", expected \"auto\": data.source text has no use for it"));
    CHECK_THAT(mistake("text", R"("packing": false)"), contains("data.packing: found false, expected true"));
    CHECK_THAT(mistake("tokens", R"("packing": false)"), contains("data.packing: "));
    CHECK_THAT(mistake("jsonl", R"("chat_format": "llama3")"), contains("data.chat_format: "));
    CHECK_THAT(mistake("chat", R"("document_separator": "x")"), contains("data.document_separator: "));
    CHECK_THAT(mistake("text", R"("document_start": "x")"), contains("data.document_start: "));
    for (const char* source : {"repeat", "lookback_copy", "induction"}) {
        for (const char* field :
             {R"("tokenizer": "t.json")", R"("mixture": [{"path": "a"}])", R"("validation_path": "a")",
              R"("validation_fraction": 0.2)", R"("sampling": "epoch")", R"("validation_stride": 5)"}) {
            CHECK_THAT(mistake(source, field), contains(fmt::format("data.source {} has no use for it", source)));
        }
    }
    for (const char* source : {"text", "jsonl", "chat", "tokens", "repeat", "induction"}) {
        CHECK_THAT(mistake(source, R"("lookback": 2)"),
                   contains(fmt::format("data.lookback: found 2, expected 3: data.source {} has no use", source)));
    }
    CHECK_THAT(mistake("text", R"("path": "a", "mixture": [{"path": "b"}])"),
               contains("data.mixture: found 1 parts beside data.path a, expected one of the two"));
    CHECK_THAT(mistake("text", R"("mixture": [{"path": "a"}, {"path": ""}])"),
               contains("data.mixture[1].path: is empty"));
    CHECK_THAT(mistake("text", R"("path": "a", "validation_path": "b", "validation_fraction": 0.2)"),
               contains("data.validation_fraction: found 0.2, expected nothing: data.validation_path b"));
    CHECK_THAT(mistake("jsonl", R"("path": "a", "packing": false, "validation_stride": 5)"),
               contains("data.validation_stride: found 5, expected 0: with data.packing false"));
    // What resolving writes can be read again.
    for (const char* data :
         {R"({"source": "jsonl", "path": "a", "packing": false})", R"({"source": "lookback_copy", "lookback": 5})",
          R"({"source": "repeat"})", R"({"source": "tokens", "path": "a", "sampling": "epoch"})"}) {
        const Config config = parsed(fmt::format(R"({{"data": {}}})", data));
        CHECK(parsed(to_json(config)) == config);
    }
}

TEST_CASE("a mixture is a list of paths with weights") {
    const Config config =
        parsed(R"({"data": {"mixture": [{"path": "a", "weight": 0.25}, {"path": "b"}, {"weight": 3, "path": "c"}]}})");
    CHECK(config.data.mixture == std::vector<DataPart>{{"a", 0.25}, {"b", 1.0}, {"c", 3.0}});
    CHECK(parsed(to_json(config)) == config);
    CHECK(parsed("{}", {R"(data.mixture=[{"path": "x"}])"}).data.mixture == std::vector<DataPart>{{"x", 1.0}});
    const auto mistake = [](const std::string& list) { return mistake_in(R"({"data": {"mixture": )" + list + "}}"); };
    CHECK_THAT(mistake("3"), contains("data.mixture: found 3, expected a list of objects {path, weight}"));
    CHECK_THAT(mistake(R"(["a"])"), contains("data.mixture[0]: found the string \"a\", expected an object"));
    CHECK_THAT(mistake(R"([{"path": "a"}, {"weight": 2}])"), contains("data.mixture[1]: has no path"));
    CHECK_THAT(mistake(R"([{"path": "a", "wieght": 2}])"),
               contains("data.mixture[0].wieght: unknown key, did you mean \"weight\"?; keys: path, weight"));
    CHECK_THAT(mistake(R"([{"path": "a", "weight": 0}])"),
               contains("data.mixture[0].weight: found 0, expected a number > 0"));
    CHECK_THAT(mistake(R"([{"path": "a", "weight": "2"}])"), contains("remove the quotes"));
}

TEST_CASE("a lookback that no position reaches is refused") {
    const std::string sequence_of_4 =
        R"({"model": {"max_position_embeddings": 4}, "data": {"source": "lookback_copy"}})";
    CHECK_THAT(mistake_in(sequence_of_4, {"data.lookback=4"}),
               contains("data.lookback: found 4, expected less than train.sequence_length (4)"));
    CHECK(parsed(sequence_of_4, {"data.lookback=3"}).data.lookback == 3);
}

TEST_CASE("heads too wide for tiled attention are sent to the explicit path") {
    const std::string wide = R"({"model": {"hidden_size": 257, "num_attention_heads": 1}})";
    CHECK_THAT(mistake_in(wide), contains("runtime.attention: found tiled, expected explicit: model.head_dim is 257, "
                                          "tiled attention takes at most 256"));
    CHECK(parsed(wide, {"runtime.attention=explicit"}).model.head_dim == 257);
    CHECK(parsed(R"({"model": {"hidden_size": 256, "num_attention_heads": 1}})").model.head_dim == 256);
}

TEST_CASE("B11: learning-rate settings are in order, and a run may end within its warm-up") {
    CHECK_THAT(mistake_in(R"({"train": {"learning_rate": 1e-4, "min_learning_rate": 1e-3}})"),
               contains("train.min_learning_rate: found 0.001, expected at most train.learning_rate (0.0001)"));
    CHECK(parsed(R"({"train": {"learning_rate": 1e-3, "min_learning_rate": 1e-3}})").train.min_learning_rate == 1e-3);
    CHECK(parsed(R"({"train": {"warmup_steps": 10, "max_steps": 10}})").train.warmup_steps == 10);
    CHECK(parsed(R"({"train": {"warmup_steps": 11, "max_steps": 10}})").train.warmup_steps == 11);
    CHECK(parsed(R"({"train": {"warmup_steps": 0, "max_steps": 1}})").train.max_steps == 1);
}

TEST_CASE("a field of section train that another one makes meaningless is refused, naming both") {
    struct Case {
        std::vector<std::string> overrides;
        std::string message;
    };
    const Case cases[] = {
        {{"max_steps=0"}, "train.max_steps: found 0, expected a limit"},
        {{"momentum=0.9"}, "train.momentum: found 0.9, expected 0: only train.optimizer sgd has momentum"},
        {{"optimizer=sgd", "adam_beta2=0.9"}, "train.adam_beta2: found 0.9, expected 0.999: train.optimizer is sgd"},
        {{"optimizer=adam", "weight_decay=0.1"}, "train.weight_decay: found 0.1, expected 0 with"},
        {{"weight_decay_scope=all"}, "train.weight_decay_scope: expected matrices: train.weight_decay is 0"},
        {{"lr_schedule=constant", "min_learning_rate=1e-5"}, "train.min_learning_rate: found 1e-05, expected 0"},
        {{"lr_schedule=minimind", "min_learning_rate=1e-5"}, "ends at a tenth of train.learning_rate"},
        {{"decay_steps=5"}, "train.decay_steps: found 5, expected 0: only train.lr_schedule wsd has decay_steps"},
        {{"spike_factor=0.5"}, "train.spike_factor: found 0.5, expected 0 or more than 1"},
        {{"spike_factor=1"}, "train.spike_factor: found 1, expected 0 or more than 1"},
        {{"on_spike=stop"}, "train.on_spike: expected skip: train.spike_factor is 0"},
        {{"on_non_finite=rollback"}, "train.checkpoint_every: found 0, expected more: a rollback needs"},
    };
    for (const Case& mistake : cases) {
        std::vector<std::string> overrides;
        for (const std::string& field : mistake.overrides) overrides.push_back("train." + field);
        CHECK_THAT(mistake_in("{}", overrides), contains(mistake.message));
    }
    const auto accepted = [](const std::vector<std::string>& overrides) { return parsed("{}", overrides).train; };
    CHECK(accepted({"train.max_steps=0", "train.max_tokens=100"}).max_tokens == 100);
    CHECK(accepted({"train.optimizer=sgd", "train.momentum=0.9", "train.weight_decay=0.1"}).momentum == 0.9);
    CHECK(accepted({"train.lr_schedule=wsd", "train.decay_steps=5"}).decay_steps == 5);
    CHECK(accepted({"train.spike_factor=3", "train.on_spike=rollback", "train.checkpoint_every=9"}).spike_factor == 3);
}

TEST_CASE("sizes whose products leave 64 bits are refused before anything is computed from them") {
    const std::string huge = R"({"model": {"hidden_size": 131072, "num_hidden_layers": 1024, "vocab_size": 2147483648,
        "num_attention_heads": 4096, "max_position_embeddings": 1048576}, "train": {"batch_size": 65536}})";
    CHECK_THAT(mistake_in(huge), contains("model: about "));
    CHECK_THAT(mistake_in(R"({"train": {"max_steps": 1099511627776, "batch_size": 65536}})"),
               contains("train.max_steps: found 1099511627776, which trains on"));
    // The largest models there are stay far below.
    CHECK(parsed(R"({"model": {"hidden_size": 16384, "num_hidden_layers": 126, "vocab_size": 128256,
        "num_attention_heads": 128, "max_position_embeddings": 131072}, "train": {"batch_size": 16}})")
              .model.head_dim == 128);
}
