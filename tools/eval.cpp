#include <memory>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "eval_data.hpp"
#include "infer/evaluation.hpp"
#include "io/checkpoint/load.hpp"
#include "io/checkpoint/save.hpp"
#include "io/npy.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Without --ids: the loss over windows of a data set, as validation while training computes it, with perplexity\n"
    "(exp of the loss), bits per byte of text, and for built-in tasks the accuracy. Without --data, what the run was\n"
    "validated on. All of F is read, in windows of the model's sequence length that follow each other or start at "
    "every\n"
    "--stride tokens; what is left at the end of F and does not fill a window is not counted. docs/data.md has the\n"
    "sources.\n"
    "\n"
    "With --ids: IN.npy, M.npy and L.npy are (B, T) matrices of int64 or int32. The logits of position (b, t) are "
    "judged\n"
    "by label (b, t), without a shift; -100 is not counted. Without --labels each token is to predict the next one of\n"
    "its row, padding too: give labels where there is any. No token sees padding; positions count from the start of a\n"
    "row. The loss is the mean over the labels that count, and so are the gradients; dropout is off. OUT.safetensors "
    "has\n"
    "the names and shapes of the model's own file, a tied tensor once.\n"
    "\n"
    "Examples:\n"
    "  causeway eval build/runs/mine\n"
    "  causeway eval build/runs/mine --data other.txt --json\n"
    "  causeway eval gpt2/ --data 'val_*.bin' --sequence-length 256 --batch-size 4\n"
    "  causeway eval qwen3/ --data book.txt --tokenizer qwen3/tokenizer.json --stride 128\n"
    "  causeway eval gpt2/ --ids ids.npy\n"
    "  causeway eval build/runs/mine --ids ids.npy --labels labels.npy --logits logits.npy\n"
    "  causeway eval qwen3/ --ids ids.npy --mask mask.npy --labels labels.npy --gradients gradients.safetensors";

struct Arguments {
    std::string ids, mask, labels, logits, gradients;
    EvalData data;  ///< the model and the overrides are for both doors
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

int eval_on_ids(const Arguments& arguments) {
    const std::string& model = arguments.data.model;
    const Config config = load_run({model}, arguments.data.overrides);
    const IdMatrix ids = read_id_matrix(arguments.ids);
    const std::vector<std::int32_t> labels = labels_for(arguments, ids), mask = mask_for(arguments, ids);
    const StoredTensors stored = StoredTensors::open(model);
    const CheckpointLayout layout = layout_of(stored, config.model);

    Evaluator evaluator(config, {ids.rows, ids.cols, !arguments.gradients.empty(), !mask.empty()});
    warn_of_unused("causeway eval", model, load_checkpoint(stored, layout, evaluator.runtime().parameters()));
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

void add_data_options(CLI::App* sub, EvalData& data) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    sub->add_option("--data", data.path, "A file, pattern or folder to evaluate on")->type_name("F");
    sub->add_option("--source", data.source, "data.source of a config: text, jsonl, chat, tokens or a built-in task")
        ->type_name("NAME");
    sub->add_option("--tokenizer", data.tokenizer, "Instead of the model's own tokenizer.json")->type_name("FILE");
    sub->add_option("--stride", data.stride, "A window starts at every so many tokens")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(1, most));
    sub->add_option("--batch-size", data.batch_size, "Windows at a time")
        ->type_name("B")
        ->check(whole_number<std::int64_t>(1, most));
    sub->add_option("--sequence-length", data.sequence_length, "Tokens of a window")
        ->type_name("T")
        ->check(whole_number<std::int64_t>(1, most));
    sub->add_flag("--json", data.json, "One JSON object");
}

/// What goes with given tokens and not with a data set.
void add_ids_options(CLI::App* sub, Arguments& arguments) {
    CLI::Option* ids = sub->add_option("--ids", arguments.ids, "Tokens (B, T)")->type_name("IN.npy");
    for (const char* other :
         {"--data", "--source", "--tokenizer", "--stride", "--batch-size", "--sequence-length", "--json"}) {
        ids->excludes(sub->get_option(other));
    }
    sub->add_option("--mask", arguments.mask, "Tokens that are there (1) and padding (0), (B, T)")
        ->type_name("M.npy")
        ->needs(ids);
    sub->add_option("--labels", arguments.labels, "What each position is to predict (B, T)")
        ->type_name("L.npy")
        ->needs(ids);
    sub->add_option("--logits", arguments.logits, "Write the logits (B, T, V), float32")
        ->type_name("OUT.npy")
        ->needs(ids);
    sub->add_option("--gradients", arguments.gradients, "Write the gradients of the mean loss")
        ->type_name("OUT.safetensors")
        ->needs(ids);
}

}  // namespace

Command add_eval(CLI::App& app) {
    CLI::App* sub =
        app.add_subcommand("eval", "Evaluate a model on data; compute logits and gradients of given tokens");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("DIR", arguments->data.model, "A run, a folder from HuggingFace or an llm.c file")->required();
    add_data_options(sub, arguments->data);
    add_ids_options(sub, *arguments);
    add_overrides(sub, arguments->data.overrides);
    sub->footer(footer);
    return {sub,
            [arguments] { return arguments->ids.empty() ? eval_on_data(arguments->data) : eval_on_ids(*arguments); }};
}

}  // namespace causeway::cli
