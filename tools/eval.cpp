#include <fmt/format.h>

#include <memory>

#include "causeway/error.hpp"
#include "command.hpp"
#include "infer/evaluation.hpp"
#include "io/checkpoint/load.hpp"
#include "io/checkpoint/save.hpp"
#include "io/npy.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "IN.npy, M.npy and L.npy are (B, T) matrices of int64 or int32. The logits of position (b, t) are judged by label\n"
    "(b, t), without a shift; -100 is not counted. Without --labels each token is to predict the next one of its row,\n"
    "padding too: give labels where there is any. No token sees padding; positions count from the start of a row. The\n"
    "loss is the mean over the labels that count, and so are the gradients; dropout is off. OUT.safetensors has the\n"
    "names and shapes of the model's own file, a tied tensor once.\n"
    "\n"
    "Examples:\n"
    "  causeway eval gpt2/ --ids ids.npy\n"
    "  causeway eval build/runs/mine --ids ids.npy --labels labels.npy --logits logits.npy\n"
    "  causeway eval qwen3/ --ids ids.npy --mask mask.npy --labels labels.npy --gradients gradients.safetensors";

struct Arguments {
    std::string model, ids, mask, labels, logits, gradients;
    std::vector<std::string> overrides;
};

/// The matrix of a file that goes with the ids, `what` of each.
std::vector<std::int32_t> read_beside(const Arguments& arguments, const IdMatrix& ids, const std::string& path,
                                      const char* what) {
    IdMatrix matrix = read_id_matrix(path);
    if (matrix.rows != ids.rows || matrix.cols != ids.cols) {
        throw DataError(fmt::format("{}: holds {} ({}, {}), expected ({}, {}) as in {}", path, what, matrix.rows,
                                    matrix.cols, ids.rows, ids.cols, arguments.ids));
    }
    return std::move(matrix.ids);
}

std::vector<std::int32_t> labels_for(const Arguments& arguments, const IdMatrix& ids) {
    return arguments.labels.empty() ? next_token_labels(ids) : read_beside(arguments, ids, arguments.labels, "labels");
}

std::vector<std::int32_t> mask_for(const Arguments& arguments, const IdMatrix& ids) {
    return arguments.mask.empty() ? std::vector<std::int32_t>{} : read_beside(arguments, ids, arguments.mask, "a mask");
}

std::string loss_text(const LabelLoss& loss) {
    if (loss.valid == 0) return "loss n/a: no label counts\n";
    return fmt::format("loss {:.9f}\nlabels {}\n", loss.loss, loss.valid);
}

int run_eval(const Arguments& arguments) {
    const Config config = load_run({arguments.model}, arguments.overrides);
    const IdMatrix ids = read_id_matrix(arguments.ids);
    const std::vector<std::int32_t> labels = labels_for(arguments, ids), mask = mask_for(arguments, ids);
    const StoredTensors stored = StoredTensors::open(arguments.model);
    const CheckpointLayout layout = layout_of(stored, config.model);

    Evaluator evaluator(config, {ids.rows, ids.cols, !arguments.gradients.empty(), !mask.empty()});
    warn_of_unused("causeway eval", arguments.model, load_checkpoint(stored, layout, evaluator.runtime().parameters()));
    evaluator.runtime().refresh();
    const LabelLoss loss = evaluator.run(ids.ids, labels, mask);

    if (!arguments.logits.empty()) {
        const TensorView logits = evaluator.logits();
        write_npy(arguments.logits, logits.desc, logits.data);
    }
    if (!arguments.gradients.empty()) {
        const double mean = loss.valid > 0 ? 1.0 / static_cast<double>(loss.valid) : 0.0;
        save_checkpoint(arguments.gradients, layout, evaluator.gradients(), DType::f32, mean);
    }
    print(loss_text(loss));
    return exit_success;
}

}  // namespace

Command add_eval(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("eval", "Compute logits, loss and gradients of a model on given tokens");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("DIR", arguments->model, "A run, a folder from HuggingFace or an llm.c file")->required();
    sub->add_option("--ids", arguments->ids, "Tokens (B, T)")->required()->type_name("IN.npy");
    sub->add_option("--mask", arguments->mask, "Tokens that are there (1) and padding (0), (B, T)")->type_name("M.npy");
    sub->add_option("--labels", arguments->labels, "What each position is to predict (B, T)")->type_name("L.npy");
    sub->add_option("--logits", arguments->logits, "Write the logits (B, T, V), float32")->type_name("OUT.npy");
    sub->add_option("--gradients", arguments->gradients, "Write the gradients of the mean loss")
        ->type_name("OUT.safetensors");
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] { return run_eval(*arguments); }};
}

}  // namespace causeway::cli
