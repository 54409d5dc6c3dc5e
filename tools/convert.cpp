#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "infer/convert_model.hpp"
#include "inspect/units.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* import_footer =
    "SOURCE is a folder with config.json and model.safetensors (or its shards) of model_type gpt2, llama, qwen3,\n"
    "qwen3_moe or minimind, weights in F32, BF16 or F16; GPT-2 weights may have nanoGPT's layout. Or a .bin "
    "checkpoint\n"
    "of llm.c. DIR can then be trained from (train --init-from), generated from, inspected and evaluated. All of "
    "these\n"
    "read SOURCE directly too. docs/checkpoints.md has the details.\n"
    "\n"
    "Examples:\n"
    "  causeway import gpt2/ --out build/runs/gpt2\n"
    "  causeway import gpt2_124M.bin --out build/runs/gpt2 --set model.attn_pdrop=0.1";

constexpr const char* export_footer =
    "DIR is the folder of a run. HF_DIR receives config.json and model.safetensors as transformers reads them, and "
    "the\n"
    "tokenizer's files where DIR has them. A model of type minimind is written as qwen3 or qwen3_moe, one of type\n"
    "causeway as the first family that has its composition.\n"
    "\n"
    "Examples:\n"
    "  causeway export build/runs/tuned --out tuned/\n"
    "  causeway export build/runs/tuned --out tuned_bf16/ --dtype bf16";

struct Arguments {
    std::string source, out, dtype = "f32";
    std::vector<std::string> overrides;
    bool overwrite = false;
};

/// Refuses a folder that holds a model already, unless it is to be replaced.
void check_folder(const Arguments& arguments) {
    if (arguments.overwrite) return;
    for (const char* name : {"config.json", "model.safetensors"}) {
        std::error_code ignored;
        if (!std::filesystem::exists(std::filesystem::path(arguments.out) / name, ignored)) continue;
        throw IoError(fmt::format("{}: holds a model already ({}); --overwrite replaces it, or choose another --out",
                                  arguments.out, name));
    }
}

int report(const char* command, const Arguments& arguments, const Conversion& done) {
    warn_of_unused(command, arguments.source, done.unused);
    print(fmt::format("{}: {} model of {} parameters, {} layers, hidden {}, vocabulary {}, from {}\n", arguments.out,
                      done.written_as, count_text(done.parameters), done.model.num_hidden_layers,
                      done.model.hidden_size, done.model.vocab_size, arguments.source));
    if (!done.copied.empty()) print(fmt::format("with {}\n", fmt::join(done.copied, ", ")));
    return exit_success;
}

}  // namespace

Command add_import(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("import", "Make a run's folder of a model from HuggingFace or llm.c");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("SOURCE", arguments->source, "Folder from HuggingFace, or llm.c's .bin file")->required();
    sub->add_option("--out", arguments->out, "Folder for the model, made if need be")->required()->type_name("DIR");
    add_overrides(sub, arguments->overrides);
    sub->add_flag("--overwrite", arguments->overwrite, "Replace a model that is in DIR already");
    sub->footer(import_footer);
    return {sub, [arguments] {
                check_folder(*arguments);
                return report("causeway import", *arguments,
                              import_model(arguments->source, arguments->out, arguments->overrides));
            }};
}

Command add_export(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("export", "Write a trained model as a folder that transformers loads");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("DIR", arguments->source, "The folder of a run")->required();
    sub->add_option("--out", arguments->out, "Folder for the model, made if need be")->required()->type_name("HF_DIR");
    sub->add_option("--dtype", arguments->dtype, "Of the weights: f32 or bf16")
        ->check(CLI::IsMember({"f32", "bf16"}))
        ->capture_default_str();
    sub->add_flag("--overwrite", arguments->overwrite, "Replace a model that is in HF_DIR already");
    sub->footer(export_footer);
    return {sub, [arguments] {
                check_folder(*arguments);
                const DType dtype = arguments->dtype == "bf16" ? DType::bf16 : DType::f32;
                return report("causeway export", *arguments, export_model(arguments->source, arguments->out, dtype));
            }};
}

}  // namespace causeway::cli
