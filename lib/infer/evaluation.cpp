#include "infer/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

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
    Config plain = config;
    plain.model.router_aux_loss_coef = 0;  // gradients are of the reported loss
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    for (const Mode mode : {options.gradients ? Mode::train : Mode::eval, Mode::logits}) {
        CompileOptions compiled;
        compiled.mode = mode;
        compiled.batch = options.batch;
        compiled.sequence_length = options.length;
        compiled.dtype = options.dtype;
        compiled.update = false;
        plans.push_back(compile(plain, compiled, shared));
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
      runtime_(make_runtime(config_, options)),
      loss_(runtime_.executor(to_string(options.gradients ? Mode::train : Mode::eval))),
      logits_(runtime_.executor(to_string(Mode::logits))) {}

LabelLoss Evaluator::run(std::span<const std::int32_t> ids, std::span<const std::int32_t> labels) {
    const std::size_t size = loss_.values<std::int32_t>("tokens").size();
    if (ids.size() != size || labels.size() != size) {
        throw DataError(
            fmt::format("{} ids and {} labels were given, expected {} of each", ids.size(), labels.size(), size));
    }
    check_tokens(ids, config_.model.vocab_size, "ids");
    check_targets(labels, config_.model.vocab_size, "labels");
    std::ranges::copy(ids, loss_.values<std::int32_t>("tokens").begin());
    std::ranges::copy(labels, loss_.values<std::int32_t>("targets").begin());
    loss_.run(Phase::step, {});
    LabelLoss result;
    result.valid = std::ranges::count_if(labels, is_scored);
    if (result.valid > 0) result.loss = loss_.values<const double>("loss")[0] / static_cast<double>(result.valid);
    // Last, because both plans have their activations in the same memory, and logits are read after the run.
    std::ranges::copy(ids, logits_.values<std::int32_t>("tokens").begin());
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
