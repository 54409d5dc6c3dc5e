// Section "model" in the words of HuggingFace's families, their config.json, and the way back.
#include <nlohmann/json.hpp>

#include "config/families/family.hpp"
#include "config/hf_config.hpp"
#include "config/read_json.hpp"
#include "config/read_model.hpp"
#include "config/resolve.hpp"
#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;
using config::Json;

namespace {

/// The model of a config.json as HuggingFace has it, before the rules that combine fields.
ModelConfig hf(const std::string& text, const ModelConfig* start = nullptr) {
    Config config;
    config::read_model(config, config::read_json(text, "config.json"), {"", "config.json"}, "", start);
    config::resolve_derived(config);
    return config.model;
}

std::string hf_mistake(const std::string& text) {
    try {
        hf(text);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

/// {"model_type": family, more}
std::string of_type(const std::string& family, const std::string& more = "") {
    return "{\"model_type\": \"" + family + "\"" + (more.empty() ? "" : ", " + more) + "}";
}

std::string hf_mistake_in(const std::string& family, const std::string& more) {
    return hf_mistake(of_type(family, more));
}

}  // namespace

TEST_CASE("each family has the defaults of its config class") {
    const ModelConfig gpt2 = hf(of_type("gpt2"));
    CHECK(gpt2.vocab_size == 50257);
    CHECK(gpt2.hidden_size == 768);
    CHECK(gpt2.intermediate_size == 3072);
    CHECK(gpt2.max_position_embeddings == 1024);
    CHECK(gpt2.hidden_act == Activation::gelu_new);
    CHECK(gpt2.attention_dropout == 0.1);
    CHECK(gpt2.tie_word_embeddings);

    const ModelConfig llama = hf(of_type("llama"));
    CHECK(llama.num_key_value_heads == 32);
    CHECK(llama.head_dim == 128);
    CHECK(llama.intermediate_size == 11008);
    CHECK(llama.norm == NormKind::rmsnorm);
    CHECK(llama.mlp == MlpKind::gated);
    CHECK(llama.position_embedding == PositionKind::rope);
    CHECK(llama.rope_parameters.theta == 10000.0);
    CHECK_FALSE(llama.tie_word_embeddings);
    CHECK_FALSE(llama.attention_bias);

    const ModelConfig qwen3 = hf(of_type("qwen3"));
    CHECK(qwen3.head_dim == 128);
    CHECK(qwen3.qk_norm);
    CHECK(qwen3.vocab_size == 151936);
    const ModelConfig moe = hf(of_type("qwen3_moe"));
    CHECK(moe.num_experts == 128);
    CHECK(moe.num_experts_per_tok == 8);
    CHECK(moe.head_dim == 64);
    CHECK_FALSE(moe.norm_topk_prob);
    CHECK(moe.router_aux_loss_scope == AuxLossScope::model);
}

TEST_CASE("MiniMind's defaults, dense and with experts") {
    const ModelConfig dense = hf(of_type("minimind"));
    CHECK(dense.hidden_size == 768);
    CHECK(dense.num_hidden_layers == 8);
    CHECK(dense.num_key_value_heads == 4);
    CHECK(dense.head_dim == 96);
    CHECK(dense.intermediate_size == 2432);
    CHECK(dense.vocab_size == 6400);
    CHECK(dense.rope_parameters.theta == 1e6);
    CHECK(dense.rope_parameters.type == RopeType::unscaled);
    CHECK(dense.tie_word_embeddings);
    CHECK(dense.num_experts == 0);
    CHECK(hf(of_type("minimind", R"("hidden_size": 512)")).intermediate_size == 1664);

    const ModelConfig moe = hf(of_type("minimind", R"("use_moe": true)"));
    CHECK(moe.num_experts == 4);
    CHECK(moe.num_experts_per_tok == 1);
    CHECK(moe.norm_topk_prob);
    CHECK(moe.router_aux_loss_coef == 5e-4);
    CHECK(moe.router_aux_loss_scope == AuxLossScope::layer);
    CHECK(hf(of_type("minimind", R"("use_moe": true, "num_experts": 8)")).num_experts == 8);
    CHECK(hf(of_type("minimind", R"("use_moe": false, "num_experts": 8, "n_shared_experts": 1)")).num_experts == 0);

    const ModelConfig dropped = hf(of_type("minimind", R"("dropout": 0.25)"));
    CHECK(dropped.attention_dropout == 0.25);
    CHECK(dropped.resid_pdrop == 0.25);
    CHECK(dropped.embd_pdrop == 0.25);

    const RopeConfig yarn = hf(of_type("minimind", R"("inference_rope_scaling": true)")).rope_parameters;
    CHECK(yarn.type == RopeType::yarn);
    CHECK(yarn.factor == 16);
    CHECK(yarn.original_max_position_embeddings == 2048);
    CHECK(yarn.attention_factor == 1.0);
    CHECK(hf(of_type("minimind", R"("inference_rope_scaling": false, "rope_scaling": null)")).rope_parameters ==
          dense.rope_parameters);
}

TEST_CASE("B55: GPT-2's own names, n_inner null, and flags that would change the result") {
    const ModelConfig model = hf(of_type("gpt2", R"("n_embd": 48, "n_layer": 2, "n_head": 3, "n_positions": 17,
        "n_ctx": 17, "n_inner": null, "activation_function": "gelu", "attn_pdrop": 0, "vocab_size": 97)"));
    CHECK(model.hidden_size == 48);
    CHECK(model.num_hidden_layers == 2);
    CHECK(model.num_attention_heads == 3);
    CHECK(model.max_position_embeddings == 17);
    CHECK(model.intermediate_size == 192);
    CHECK(model.hidden_act == Activation::gelu);
    CHECK(model.attention_dropout == 0);
    CHECK(hf(of_type("gpt2", R"("n_inner": 100)")).intermediate_size == 100);

    CHECK_THAT(hf_mistake_in("gpt2", R"("scale_attn_by_inverse_layer_idx": true)"),
               contains("scale_attn_by_inverse_layer_idx: found true, expected false: other values change"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("reorder_and_upcast_attn": true)"), contains("reorder_and_upcast_attn: found"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("scale_attn_weights": false)"), contains("scale_attn_weights: found false"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("add_cross_attention": true)"), contains("add_cross_attention: found true"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("activation_function": "quick_gelu")"),
               contains("activation_function: found the string \"quick_gelu\", expected one of: gelu, gelu_new"));
    CHECK_THAT(hf_mistake_in("llama", R"("pretraining_tp": 2)"), contains("pretraining_tp: found 2, expected 1"));
    CHECK_THAT(hf_mistake_in("llama", R"("quantization_config": {"bits": 4})"), contains("quantization_config: found"));
    CHECK_THAT(hf_mistake_in("qwen3_moe", R"("mlp_only_layers": [3])"), contains("mlp_only_layers: found [3], "));
    CHECK_THAT(hf_mistake_in("qwen3_moe", R"("decoder_sparse_step": 2)"), contains("decoder_sparse_step: found 2"));
}

TEST_CASE("B54: rope_theta at the top and inside an object are the same, and scaling by either generation's key") {
    CHECK(hf(of_type("llama")).rope_parameters.theta == 10000.0);
    CHECK(hf(of_type("minimind")).rope_parameters.theta == 1e6);
    CHECK(hf(of_type("llama", R"("rope_theta": 500000.0)")).rope_parameters.theta == 500000.0);
    CHECK(hf(of_type("llama", R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000})")) ==
          hf(of_type("llama", R"("rope_theta": 5e5, "rope_scaling": null)")));
    const std::string llama3 = R"({"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192, )";
    const ModelConfig four = hf(of_type("llama", R"("rope_scaling": )" + llama3 + R"("type": "llama3"})"));
    CHECK(four.rope_parameters.type == RopeType::llama3);
    CHECK(four.rope_parameters.factor == 8);
    CHECK(hf(of_type("llama", R"("rope_parameters": )" + llama3 + R"("rope_type": "llama3", "rope_theta": 1e4})")) ==
          four);

    CHECK_THAT(hf_mistake_in("llama", R"("rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e6})"),
               contains("rope_parameters.rope_theta: found 1000000, but rope_theta says 10000"));
    CHECK_THAT(hf_mistake_in("llama", R"("rope_scaling": {"rope_type": "longrope"})"),
               contains("rope_scaling.rope_type: found the string \"longrope\", expected one of: default, linear"));
    CHECK_THAT(hf_mistake_in("llama", R"("rope_scaling": {"rope_type": "yarn", "mscale": 0.7})"),
               contains("rope_scaling.mscale: found 0.7, expected null"));
    CHECK_THAT(hf_mistake_in("llama", R"("rope_scaling": {"sections": [1]})"),
               contains("rope_scaling.sections: unknown setting of RoPE"));
    CHECK_THAT(hf_mistake_in("llama", R"("partial_rotary_factor": 0.5)"), contains("partial_rotary_factor: found 0.5"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("rope_theta": 1e4)"), contains("rope_theta: unknown key of model_type gpt2"));
}

TEST_CASE("sliding windows are taken when all layers have one, and refused in mixtures") {
    const auto window = [](const std::string& more) { return hf(of_type("qwen3", more)).sliding_window; };
    CHECK(window(R"("sliding_window": 4096, "use_sliding_window": false, "max_window_layers": 28)") == 0);
    CHECK(window(R"("sliding_window": null, "use_sliding_window": false)") == 0);
    CHECK(window(R"("sliding_window": 128, "use_sliding_window": true, "max_window_layers": 0)") == 128);
    CHECK(window(R"("sliding_window": 128, "use_sliding_window": true, "max_window_layers": 32)") == 0);
    CHECK(window(R"("num_hidden_layers": 2, "sliding_window": 8, "use_sliding_window": true,
                    "layer_types": ["sliding_attention", "sliding_attention"])") == 8);
    CHECK(window(R"("num_hidden_layers": 2, "layer_types": ["full_attention", "full_attention"])") == 0);
    CHECK_THAT(hf_mistake_in("qwen3", R"("use_sliding_window": true, "sliding_window": 8)"),
               contains("max_window_layers: found 28 of 32 layers without a window"));
    CHECK_THAT(hf_mistake_in("qwen3", R"("layer_types": ["full_attention", "sliding_attention"])"),
               contains("layer_types: found both"));
    CHECK_THAT(hf_mistake_in("qwen3", R"("layer_types": ["chunked_attention"])"),
               contains("layer_types: found the string \"chunked_attention\""));
    CHECK(hf(of_type("qwen3_moe", R"("sliding_window": 64, "use_sliding_window": true)")).sliding_window == 64);
}

TEST_CASE("keys that change nothing are passed over, unknown ones are errors with a hint") {
    CHECK(hf(of_type("llama", R"("architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "dtype": "float32",
        "transformers_version": "4.51.0", "bos_token_id": 1, "eos_token_id": [2, 3], "use_cache": true)")) ==
          hf(of_type("llama")));
    CHECK_THAT(hf_mistake_in("llama", R"("num_hidden_layer": 3)"),
               contains("num_hidden_layer: unknown key of model_type llama, did you mean \"num_hidden_layers\"?"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("n_heads": 3)"), contains("did you mean \"n_head\"?"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("n_head": 0)"), contains("n_head: found 0, expected an integer from 1"));
    CHECK_THAT(hf_mistake_in("gpt2", R"("n_embd": 8, "hidden_size": 16)"),
               contains("hidden_size: found 16, but n_embd says 8"));
    CHECK_THAT(hf_mistake(R"({"model_type": "bert"})"),
               contains("model_type: found the string \"bert\", expected one of: causeway, gpt2, llama"));
}

TEST_CASE("a section may be written in a family's words, and explicit fields win over its defaults") {
    const std::string text = R"({"model": {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2,
        "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}})";
    const Config config = parsed(text);
    CHECK(config.model.hidden_size == 64);
    CHECK(config.model.vocab_size == 50257);
    CHECK(config.model.intermediate_size == 256);
    CHECK(parsed(to_json(config)) == config);
    CHECK(parsed(text, {"model.n_embd=128"}).model.hidden_size == 128);
    CHECK(parsed(text, {"model.hidden_size=128"}).model.intermediate_size == 512);
    const std::vector<std::string> no_dropout{"model.model_type=gpt2", "model.attn_pdrop=0", "model.embd_pdrop=0",
                                              "model.resid_pdrop=0"};
    CHECK(parsed("{}", no_dropout).model.hidden_size == 768);
    CHECK_THAT(mistake_in(R"({"model": {"model_type": "gpt2", "n_heads": 3}})"),
               contains("model.n_heads: unknown key of model_type gpt2, did you mean \"n_head\"?"));
    CHECK_THAT(mistake_in(R"({"model": {"model_type": "gpt2", "learning_rate": 3}})"),
               contains("it belongs to \"train\""));
    CHECK_THAT(mistake_in(text, {"model.norm=none"}),
               contains("model.norm: found \"none\", expected \"layernorm\": model.model_type is gpt2; with causeway"));
    CHECK_THAT(mistake_in(text, {"model.lm_head_bias=true"}), contains("model.lm_head_bias: found true"));
}

TEST_CASE("a config.json of HuggingFace's is a config with a model alone") {
    const std::string text = of_type("gpt2", R"("n_embd": 40, "n_head": 4, "n_layer": 2, "vocab_size": 97,
        "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0)");
    const Config config = parsed(text, {"train.batch_size=3"});
    CHECK(config.model.vocab_size == 97);
    CHECK(config.train.batch_size == 3);
    CHECK(parsed(to_json(config)) == config);
}

TEST_CASE("a starting point gives what a config's model does not say") {
    const ModelConfig start = parsed(R"({"model": {"vocab_size": 300, "hidden_size": 64}})").model;
    const Config config =
        parse_config(R"({"model": {"initializer_range": 0.5}, "train": {"sequence_length": 8}})", "t", {}, &start);
    CHECK(config.model.vocab_size == 300);
    CHECK(config.model.initializer_range == 0.5);
    CHECK(config.train.sequence_length == 8);
}

TEST_CASE("a model is written as its family's config.json and read back the same") {
    for (const std::string family : {"gpt2", "llama", "qwen3", "qwen3_moe"}) {
        INFO(family);
        const ModelConfig model = hf(of_type(family, R"("vocab_size": 101, "initializer_range": 0.5)"));
        const Json written = config::hf_config(model);
        CHECK(written.at("model_type") == family);
        CHECK(written.at("architectures").size() == 1);
        CHECK(written.contains("tie_word_embeddings"));
        CHECK(hf(written.dump()) == model);
    }
    const ModelConfig scaled = hf(of_type("llama", R"("rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3",
        "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 256})"));
    const Json written = config::hf_config(scaled);
    CHECK(written.at("head_dim") == 128);
    CHECK(written.at("rope_theta") == 5e5);
    CHECK(written.at("rope_scaling").at("rope_type") == "llama3");
    CHECK(written.at("rope_parameters").at("rope_theta") == 5e5);
    CHECK(hf(written.dump()) == scaled);
}

TEST_CASE("MiniMind is written as Qwen3, free compositions as the first family that has them") {
    const Json dense = config::hf_config(hf(of_type("minimind")));
    CHECK(dense.at("model_type") == "qwen3");
    CHECK(dense.at("head_dim") == 96);
    CHECK(dense.at("tie_word_embeddings") == true);
    CHECK(dense.at("use_sliding_window") == false);
    const Json moe = config::hf_config(hf(of_type("minimind", R"("use_moe": true)")));
    CHECK(moe.at("model_type") == "qwen3_moe");
    CHECK(moe.at("decoder_sparse_step") == 1);
    CHECK(moe.at("mlp_only_layers").empty());
    CHECK(moe.at("norm_topk_prob") == true);

    ModelConfig free = parsed("{}").model;
    CHECK(config::hf_config(free).at("model_type") == "gpt2");
    free.position_embedding = PositionKind::sinusoidal;
    CHECK_THROWS_MESSAGE(config::hf_config(free), ConfigError,
                         "no model family of HuggingFace's has this composition; gpt2: model.position_embedding is "
                         "\"sinusoidal\", expected \"learned\"");
}

TEST_CASE("B53: a head_dim that is not hidden/heads is kept through a family's config.json") {
    const ModelConfig model = hf(
        of_type("qwen3", R"("hidden_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16)"));
    CHECK(model.head_dim == 16);
    CHECK(config::hf_config(model).at("head_dim") == 16);
}
