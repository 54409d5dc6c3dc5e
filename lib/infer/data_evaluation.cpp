#include "infer/data_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/accuracy.hpp"
#include "data/evaluation_sum.hpp"
#include "data/tokens.hpp"
#include "exec/finite_check.hpp"

namespace causeway {
namespace {

ModelRuntime make_runtime(const Config& config) {
    std::vector<Mode> modes{Mode::eval};
    if (config.data.is_task()) modes.push_back(Mode::logits);
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    for (const Mode mode : modes) {
        CompileOptions options;
        options.mode = mode;
        plans.push_back(compile(config, options, shared));
    }
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

}  // namespace

double DataLoss::perplexity() const { return std::exp(loss); }

DataEvaluation::DataEvaluation(const Config& config)
    : config_(config), data_(open_validation(config)), runtime_(make_runtime(config)) {
    const std::size_t size = runtime_.executor(to_string(Mode::eval)).values<std::int32_t>("tokens").size();
    tokens_.resize(size);
    targets_.resize(size);
}

void DataEvaluation::give_batch(Executor& executor) {
    std::ranges::copy(tokens_, executor.values<std::int32_t>("tokens").begin());
    std::ranges::copy(targets_, executor.values<std::int32_t>("targets").begin());
}

/// The sum of the batch's losses.
double DataEvaluation::run_batch(std::int64_t batch) {
    data_.validation->check_files();
    data_.validation->fill(batch, tokens_, targets_);
    check_tokens(tokens_, config_.model.vocab_size, "inputs");
    check_targets(targets_, config_.model.vocab_size, "targets");
    Executor& eval = runtime_.executor(to_string(Mode::eval));
    give_batch(eval);
    eval.run(Phase::step, {});
    const double loss = eval.values<const double>("loss")[0];
    if (!std::isfinite(loss)) throw_not_finite(batch, loss);
    return loss;
}

/// Runs the batch once more, to say where it went wrong.
void DataEvaluation::throw_not_finite(std::int64_t batch, double loss) {
    Executor& eval = runtime_.executor(to_string(Mode::eval));
    give_batch(eval);
    const auto place = find_not_finite(eval, Phase::step, {});
    throw NumericError(fmt::format("{}: the loss is {} from row {} on{}", data_.description, without_nan_sign(loss),
                                   batch * config_.train.batch_size,
                                   place ? ": " + describe(eval.plan(), *place) : ""));
}

std::optional<DataLoss> DataEvaluation::run(const Progress& progress) {
    const Stopwatch watch;
    const std::int64_t batches = data_.validation->batches_per_epoch();
    EvaluationSum sum;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        sum.add(run_batch(batch), targets_, data_.bytes.get());
        if (config_.data.is_task()) {
            Executor& logits = runtime_.executor(to_string(Mode::logits));
            std::ranges::copy(tokens_, logits.values<std::int32_t>("tokens").begin());
            logits.run(Phase::step, {});
            sum.hits += count_hits<float>(logits.values<const float>("logits"), targets_);
        }
        if (progress && !progress(batch + 1, batches)) return std::nullopt;
    }
    DataLoss result;
    result.loss = sum.mean_loss();
    result.targets = sum.targets;
    if (data_.bytes != nullptr) result.bytes = sum.bytes;
    if (config_.data.is_task()) result.accuracy = sum.accuracy();
    result.bits_per_byte = sum.bits_per_byte();
    result.seconds = watch.seconds();
    return result;
}

Config evaluation_config(Config config, const std::string& path, DataSource source) {
    DataConfig data;
    data.source = source;
    data.lookback = config.data.lookback;
    if (!data.is_task()) {
        data.validation_path = path;
        data.tokenizer = config.data.tokenizer;
    }
    if (source == DataSource::jsonl || source == DataSource::chat) data.packing = config.data.packing;
    if (source == DataSource::jsonl) data.document_start = config.data.document_start;
    if (source == DataSource::jsonl || source == DataSource::text) {
        data.document_separator = config.data.document_separator;
    }
    if (source == DataSource::chat) data.chat_format = config.data.chat_format;
    if (source == DataSource::tokens) data.token_type = config.data.token_type;
    config.data = data;
    config.train.sample_every = 0;  // of its training
    return resolve_config(config);
}

}  // namespace causeway
