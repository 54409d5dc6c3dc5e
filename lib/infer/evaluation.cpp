#include "infer/evaluation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "io/npy.hpp"

namespace causeway {
namespace {

Config without_regularisation(Config config) {
    config.model.attention_dropout = 0;
    config.model.embd_pdrop = 0;
    config.model.resid_pdrop = 0;
    config.model.router_aux_loss_coef = 0;
    return config;
}

ModelRuntime make_runtime(const Config& config, const Evaluator::Options& options) {
    if (options.length > config.model.max_position_embeddings) {
        throw DataError(fmt::format("the rows have {} tokens; the model takes 1 to {} (model.max_position_embeddings)",
                                    options.length, config.model.max_position_embeddings));
    }
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    for (const Mode mode : {options.gradients ? Mode::train : Mode::eval, Mode::logits}) {
        CompileOptions compiled;
        compiled.mode = mode;
        compiled.batch = options.batch;
        compiled.sequence_length = options.length;
        compiled.dtype = options.dtype;
        compiled.update = false;
        compiled.attention_mask = options.masked;
        plans.push_back(compile(config, compiled, shared));
    }
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

template <class T>
std::vector<std::int32_t> narrowed(const NpyFile& file, const std::string& path) {
    std::vector<T> values(static_cast<std::size_t>(file.desc().shape.elements()));
    file.read(std::span<T>(values));
    std::vector<std::int32_t> ids;
    ids.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::in_range<std::int32_t>(values[i])) {
            throw DataError(fmt::format("{}: element {} is {}, which is no token id", path, i, values[i]));
        }
        ids.push_back(static_cast<std::int32_t>(values[i]));
    }
    return ids;
}

}  // namespace

IdMatrix read_id_matrix(const std::string& path) {
    const NpyFile file(path);
    const Shape& shape = file.desc().shape;
    const bool whole = file.desc().dtype == DType::i64 || file.desc().dtype == DType::i32;
    if (shape.rank() != 2 || !whole || shape.elements() == 0) {
        throw IoError(
            fmt::format("{}: holds {} {}, expected a matrix (B, T) of int64 or int32 with at least one "
                        "element",
                        path, to_string(file.desc().dtype), to_string(shape)));
    }
    return {shape[0], shape[1],
            file.desc().dtype == DType::i64 ? narrowed<std::int64_t>(file, path) : narrowed<std::int32_t>(file, path)};
}

std::vector<std::int32_t> next_token_labels(const IdMatrix& ids) {
    std::vector<std::int32_t> labels = ids.ids;
    for (auto row = labels.begin(); row != labels.end(); row += ids.cols) {
        std::shift_left(row, row + ids.cols, 1);
        row[ids.cols - 1] = ignore_index;
    }
    return labels;
}

Evaluator::Evaluator(const Config& config, const Options& options)
    : config_(without_regularisation(config)),
      masked_(options.masked),
      runtime_(make_runtime(config_, options)),
      loss_(runtime_.executor(to_string(options.gradients ? Mode::train : Mode::eval))),
      logits_(runtime_.executor(to_string(Mode::logits))) {}

void Evaluator::check_mask(std::span<const std::int32_t> mask) {
    const std::size_t size = masked_ ? loss_.values<std::int32_t>("attention_mask").size() : 0;
    if (mask.size() != size) {
        throw DataError(fmt::format("a mask of {} values was given, expected {}", mask.size(), size));
    }
    const auto other = std::ranges::find_if(mask, [](std::int32_t value) { return value != 0 && value != 1; });
    if (other != mask.end()) {
        throw DataError(
            fmt::format("mask: element {} is {}, expected 1 (a token) or 0 (padding)", other - mask.begin(), *other));
    }
}

void Evaluator::give(Executor& executor, std::span<const std::int32_t> ids, std::span<const std::int32_t> mask) {
    std::ranges::copy(ids, executor.values<std::int32_t>("tokens").begin());
    if (masked_) std::ranges::copy(mask, executor.values<std::int32_t>("attention_mask").begin());
}

LabelLoss Evaluator::run(std::span<const std::int32_t> ids, std::span<const std::int32_t> labels,
                         std::span<const std::int32_t> mask) {
    const std::size_t size = loss_.values<std::int32_t>("tokens").size();
    if (ids.size() != size || labels.size() != size) {
        throw DataError(
            fmt::format("{} ids and {} labels were given, expected {} of each", ids.size(), labels.size(), size));
    }
    check_tokens(ids, config_.model.vocab_size, "ids");
    check_targets(labels, config_.model.vocab_size, "labels");
    check_mask(mask);
    give(loss_, ids, mask);
    std::ranges::copy(labels, loss_.values<std::int32_t>("targets").begin());
    loss_.run(Phase::step, {});
    LabelLoss result;
    result.valid = std::ranges::count_if(labels, is_scored);
    if (result.valid > 0) result.loss = loss_.values<const double>("loss")[0] / static_cast<double>(result.valid);
    // Last, because both plans have their activations in the same memory, and logits are read after the run.
    give(logits_, ids, mask);
    logits_.run(Phase::step, {});
    return result;
}

TensorView Evaluator::logits() { return logits_.view(logits_.plan().index_of("logits")); }

std::vector<NamedTensor> Evaluator::gradients() {
    std::vector<NamedTensor> gradients = runtime_.gradients();
    for (NamedTensor& gradient : gradients) {
        gradient.name.resize(gradient.name.size() - std::string_view(".grad").size());
    }
    return gradients;
}

}  // namespace causeway
