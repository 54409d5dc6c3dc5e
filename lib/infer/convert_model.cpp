#include "infer/convert_model.hpp"

#include <array>
#include <filesystem>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "config/hf_config.hpp"
#include "config/read_json.hpp"
#include "infer/model_weights.hpp"
#include "io/atomic_file.hpp"
#include "io/checkpoint/load.hpp"
#include "io/checkpoint/save.hpp"
#include "io/mapped_file.hpp"
#include "io/run_folder.hpp"

namespace causeway {
namespace {

using config::Json;
namespace fs = std::filesystem;

constexpr const char* generation_file = "generation_config.json";
constexpr std::array token_ids{"bos_token_id", "eos_token_id", "pad_token_id"};

/// What belongs to a model besides its config and weights.
constexpr std::array companions{
    generation_file, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json",    "merges.txt",     "tokenizer.model",       "chat_template.jinja"};

void require_other_folder(const std::string& source, const std::string& folder) {
    if (folder.empty()) throw IoError("the folder to write to has no name");
    std::error_code error;
    if (fs::equivalent(source, folder, error)) {
        throw IoError(fmt::format("{}: is both source and target, expected another folder for the result", folder));
    }
    if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
        throw IoError(fmt::format("{}: exists and is no folder", folder));
    }
}

std::vector<std::string> copy_companions(const std::string& source, const std::string& folder) {
    std::vector<std::string> copied;
    for (const char* name : companions) {
        std::error_code ignored;
        const std::string from = source + "/" + name;
        if (!fs::is_regular_file(from, ignored)) continue;
        copy_file_atomically(from, folder + "/" + name);
        copied.emplace_back(name);
    }
    return copied;
}

/// A JSON object of a folder's file; empty when there is none.
Json object_in(const std::string& folder, const char* name) {
    std::error_code ignored;
    const std::string path = folder + "/" + name;
    if (!fs::is_regular_file(path, ignored)) return Json::object();
    const Json values = config::read_json(std::string(MappedFile(path).text()), path);
    return values.is_object() ? values : Json::object();
}

Json only_token_ids(const Json& values) {
    Json ids = Json::object();
    for (const char* key : token_ids) {
        if (values.contains(key) && !values.at(key).is_null()) ids[key] = values.at(key);
    }
    return ids;
}

/// Which tokens end a text stands in config.json where a model comes without generation_config.json.
void keep_token_ids(const std::string& source, const std::string& folder) {
    std::error_code ignored;
    if (fs::exists(fs::path(source) / generation_file, ignored)) return;
    const Json ids = only_token_ids(object_in(source, "config.json"));
    if (!ids.empty()) write_text_atomically(folder + "/" + generation_file, ids.dump(2) + "\n");
}

/// Loads all of the source into memory.
Conversion load(const std::string& source, const Config& config, const ModelWeights& weights) {
    Conversion result;
    result.model = config.model;
    result.parameters = weights.count();
    result.unused = load_parameters(source, config.model, weights.tensors());
    return result;
}

}  // namespace

Conversion import_model(const std::string& source, const std::string& folder,
                        const std::vector<std::string>& overrides) {
    require_other_folder(source, folder);
    const Config config = load_run({source}, overrides);
    const ModelWeights weights(config);
    Conversion result = load(source, config, weights);
    result.written_as = config.model.model_type;
    make_folder(folder);
    result.copied = copy_companions(source, folder);  // before save_run, which would look for data.tokenizer
    save_run({folder}, config, weights.tensors());
    keep_token_ids(source, folder);
    return result;
}

Conversion export_model(const std::string& source, const std::string& folder, DType dtype) {
    require_other_folder(source, folder);
    const Config config = load_run({source});
    Json values = config::hf_config(config.model);
    const ModelWeights weights(config);
    Conversion result = load(source, config, weights);
    result.written_as = values.at("model_type").get<std::string>();
    values["dtype"] = values["torch_dtype"] = dtype == DType::bf16 ? "bfloat16" : "float32";
    for (const char* key : token_ids) values[key] = nullptr;
    values.update(only_token_ids(object_in(source, generation_file)));
    make_folder(folder);
    write_text_atomically(folder + "/config.json", values.dump(2) + "\n");
    save_checkpoint(folder + "/model.safetensors", hf_layout(config.model), weights.tensors(), dtype);
    result.copied = copy_companions(source, folder);
    return result;
}

}  // namespace causeway
