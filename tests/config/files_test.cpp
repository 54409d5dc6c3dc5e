#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "config_support.hpp"
#include "support/catch.hpp"

using namespace causeway;
using Json = nlohmann::json;

namespace {

const std::string source_dir = CAUSEWAY_SOURCE_DIR;

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

void write(const std::string& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file << content;
    REQUIRE(file.flush());
}

/// CAUSEWAY_UPDATE=1 writes generated files instead of comparing them.
void check_generated(const std::string& path, const std::string& expected) {
    if (std::getenv("CAUSEWAY_UPDATE") != nullptr) write(path, expected);
    INFO("to bring " << path << " up to date, run test_config once with CAUSEWAY_UPDATE=1");
    CHECK(content_of(path) == expected);
}

std::vector<std::string> config_files() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir + "/configs")) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() == ".json" && name != "causeway.schema.json")
            paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// The schema of an object names exactly the keys of `fields`, with their values as defaults.
void check_described(const Json& described, const Json& fields) {
    CHECK(described["type"] == "object");
    CHECK(described["additionalProperties"] == false);
    CHECK(described["properties"].size() == fields.size());
    for (const auto& [key, value] : fields.items()) {
        INFO(key);
        REQUIRE(described["properties"].contains(key));
        const Json& property = described["properties"][key];
        CHECK(property["description"].get<std::string>().size() > 5);
        if (value.is_object()) {
            check_described(property, value);
            continue;
        }
        CHECK(property["default"] == value);
        CHECK(property["type"].is_string());
    }
}

}  // namespace

TEST_CASE("configs/causeway.schema.json is what the field table generates") {
    check_generated(source_dir + "/configs/causeway.schema.json", config_schema());
}

TEST_CASE("the field tables in docs/config.md are what the field table generates") {
    const std::string path = source_dir + "/docs/config.md";
    const std::string begin = "<!-- fields: begin -->\n", end = "<!-- fields: end -->\n";
    const std::string page = content_of(path);
    const std::size_t from = page.find(begin), to = page.find(end);
    REQUIRE(from != std::string::npos);
    REQUIRE(to != std::string::npos);
    check_generated(path, page.substr(0, from + begin.size()) + config_reference() + page.substr(to));
}

TEST_CASE("the schema describes exactly the fields that to_json writes, with their defaults") {
    const Json schema = Json::parse(config_schema());
    const Json defaults = Json::parse(to_json(Config{}));
    CHECK(schema["additionalProperties"] == false);
    CHECK(schema["properties"].size() == defaults.size() + 1);  // $schema
    for (const auto& [section, fields] : defaults.items()) {
        INFO(section);
        check_described(schema["properties"][section], fields);
    }
    CHECK(schema["properties"]["train"]["properties"]["batch_size"]["minimum"] == 1);
    CHECK(schema["properties"]["train"]["properties"]["adam_beta1"]["exclusiveMaximum"] == 1.0);
    CHECK(schema["properties"]["model"]["properties"]["norm"]["enum"] == Json({"none", "layernorm", "rmsnorm"}));
}

TEST_CASE("every limit in the schema is the parser's limit") {
    const Json schema = Json::parse(config_schema());
    std::size_t limits = 0;
    for (const auto& [section, described] : schema["properties"].items()) {
        if (!described.contains("properties")) continue;
        for (const auto& [key, property] : described["properties"].items()) {
            const auto rejects = [&, section = section, key = key](const Json& value) {
                return mistake_in(section_with(section, key, value.dump())).find(section + "." + key + ": found ") == 0;
            };
            INFO(section << "." << key);
            if (property.contains("exclusiveMinimum")) CHECK((++limits, rejects(property["exclusiveMinimum"])));
            if (property.contains("exclusiveMaximum")) CHECK((++limits, rejects(property["exclusiveMaximum"])));
            if (property["type"] == "integer") {
                ++limits;
                CHECK(rejects(property["minimum"].get<std::int64_t>() - 1));
                if (key != "seed") CHECK(rejects(property["maximum"].get<std::int64_t>() + 1));
            }
        }
    }
    CHECK(limits > 20);
}

TEST_CASE("every config in configs/ loads, and points to the schema") {
    const auto paths = config_files();
    CHECK(paths.size() >= 6);
    for (const std::string& path : paths) {
        INFO(path);
        Config config;
        CHECK_NOTHROW(config = load_config(path));
        CHECK(parsed(to_json(config)) == config);
        const auto schema = Json::parse(content_of(path))["$schema"].get<std::string>();
        CHECK(std::filesystem::exists(std::filesystem::path(path).parent_path() / schema));
    }
}

TEST_CASE("S1-17, S1-21: repeat_h4 and repeat_h8 are the demo's model and recipe") {
    for (const std::int64_t heads : {4, 8}) {
        const Config config = load_config(source_dir + "/configs/repeat_h" + std::to_string(heads) + ".json");
        Config demo;
        demo.model.vocab_size = 64;
        demo.model.hidden_size = 32;
        demo.model.num_hidden_layers = 1;
        demo.model.num_attention_heads = heads;
        demo.model.max_position_embeddings = 12;
        demo.model.position_embedding = PositionKind::sinusoidal;
        demo.model.norm = NormKind::none;
        demo.model.residual = false;
        demo.model.mlp = MlpKind::none;
        demo.model.tie_word_embeddings = false;
        demo.model.lm_head_bias = true;
        demo.model.init = InitKind::pytorch;
        demo.data.source = DataSource::repeat;
        demo.train.batch_size = 16;
        demo.train.max_steps = 360;
        demo.train.steps_per_epoch = 120;
        demo.train.optimizer = OptimizerKind::adam;
        demo.train.learning_rate = 5e-3;
        demo.train.lr_schedule = LrSchedule::constant;
        demo.train.log_every = config.train.log_every;
        CHECK(config == resolve_config(demo));
        CHECK(config.model.attention_bias);
        CHECK(config.model.initializer_range == 0.02);
        CHECK(config.train.seed == 42);
        CHECK(config.train.max_grad_norm == 0.0);

        const std::int64_t V = 64, D = 32;  // embedding, QKV, output projection, head
        CHECK(V * D + (3 * D * D + 3 * D) + (D * D + D) + (V * D + V) == 8384);
    }
}

TEST_CASE("kjv_bytes is the recipe of the PyTorch comparison") {
    const Config config = load_config(source_dir + "/configs/kjv_bytes.json");
    CHECK(config.model.num_hidden_layers == 4);
    CHECK(config.model.num_attention_heads == 4);
    CHECK(config.model.hidden_size == 128);
    CHECK(config.model.intermediate_size == 512);
    CHECK(config.model.hidden_act == Activation::gelu_new);
    CHECK(config.model.position_embedding == PositionKind::learned);
    CHECK(config.model.tie_word_embeddings);
    CHECK(config.data.path == "build/data/kjv.txt");
    CHECK(config.data.validation_fraction == 0.1);
    CHECK(config.data.validation_stride == 512);
    CHECK(config.data.sampling == Sampling::random);
    CHECK(config.train.batch_size == 12);
    CHECK(config.train.sequence_length == 64);
    CHECK(config.train.max_steps == 2000);
    CHECK(config.train.warmup_steps == 100);
    CHECK(config.train.learning_rate == 1e-3);
    CHECK(config.train.min_learning_rate == 1e-4);
    CHECK(config.train.adam_beta1 == 0.9);
    CHECK(config.train.adam_beta2 == 0.99);
    CHECK(config.train.adam_epsilon == 1e-8);
    CHECK(config.train.weight_decay == 0.1);
    CHECK(config.train.max_grad_norm == 1.0);
}

TEST_CASE("the recipes of nanoGPT and MiniMind are theirs") {
    const auto recipe = [](const std::string& name) { return load_config(source_dir + "/configs/recipes/" + name); };
    const Config small = recipe("shakespeare_char_cpu.json"), large = recipe("shakespeare_char_10m.json");
    CHECK(small.model.hidden_size == 128);
    CHECK(small.model.max_position_embeddings == 64);
    CHECK(small.model.resid_pdrop == 0.0);
    CHECK(small.train.batch_size == 12);
    CHECK(small.train.max_steps == 2000);
    CHECK(large.model.hidden_size == 384);
    CHECK(large.model.num_hidden_layers == 6);
    CHECK(large.model.attention_dropout == 0.2);
    CHECK(large.train.batch_size * large.train.sequence_length == 64 * 256);
    CHECK(large.train.max_steps == 5000);
    CHECK(large.train.adam_beta2 == 0.99);

    const Config pretrain = recipe("minimind_pretrain.json"), sft = recipe("minimind_sft.json");
    CHECK(pretrain.model == sft.model);
    CHECK(pretrain.train.batch_size * pretrain.train.gradient_accumulation_steps == 256);
    CHECK(pretrain.train.sequence_length == 340);
    CHECK(pretrain.train.lr_schedule == LrSchedule::minimind);
    CHECK(pretrain.train.learning_rate == 5e-4);
    CHECK_FALSE(pretrain.data.packing);
    CHECK(sft.data.source == DataSource::chat);
    CHECK(sft.train.learning_rate == 1e-5);

    const Config tuned = recipe("gpt2_finetune.json");
    CHECK(tuned.train.lr_schedule == LrSchedule::constant);
    CHECK(tuned.train.batch_size * tuned.train.gradient_accumulation_steps * tuned.train.sequence_length == 32768);
}

TEST_CASE("gpt2_124m has GPT-2's sizes") {
    const ModelConfig model = load_config(source_dir + "/configs/gpt2_124m.json").model;
    CHECK(model.vocab_size == 50257);
    CHECK(model.num_key_value_heads == 12);
    CHECK(model.head_dim == 64);
    const std::int64_t V = model.vocab_size, P = model.max_position_embeddings, D = model.hidden_size;
    const std::int64_t F = model.intermediate_size, block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D;
    CHECK(V * D + P * D + model.num_hidden_layers * block + 2 * D == 124439808);
}

TEST_CASE("B70: files that cannot be read say so") {
    CHECK_THROWS_MESSAGE(load_config("no/such/config.json"), IoError, "no/such/config.json: cannot open: No such file");
    CHECK_THROWS_MESSAGE(load_config("."), IoError, ".: cannot read: Is a directory");
    const std::string path = "too_large_config.json";
    write(path, std::string((1 << 20) + 1, ' '));
    CHECK_THROWS_MESSAGE(load_config(path), IoError, path + ": is larger than");
    write(path, "{\"train\": {\"sede\": 1}}");
    CHECK_THROWS_MESSAGE(load_config(path), ConfigError, "(in " + path + ")");
    write(path, "{\"train\": {\"seed\": 3}}");
    CHECK(load_config(path, {"train.max_steps=9"}).train.seed == 3);
    CHECK(load_config(path, {"train.max_steps=9"}).train.max_steps == 9);
    std::remove(path.c_str());
}
