#include "infer/data_evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/accuracy.hpp"
#include "data/tokens.hpp"

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

std::optional<double> DataLoss::bits_per_byte() const {
    if (!bytes || *bytes == 0) return std::nullopt;
    return loss * static_cast<double>(targets) / std::numbers::ln2 / static_cast<double>(*bytes);
}

DataEvaluation::DataEvaluation(const Config& config)
    : config_(config), data_(open_validation(config)), runtime_(make_runtime(config)) {
    const std::size_t size = runtime_.executor(to_string(Mode::eval)).values<std::int32_t>("tokens").size();
    tokens_.resize(size);
    targets_.resize(size);
}

/// The sum of the batch's losses.
double DataEvaluation::run_batch(std::int64_t batch) {
    data_.validation->fill(batch, tokens_, targets_);
    check_tokens(tokens_, config_.model.vocab_size, "inputs");
    check_targets(targets_, config_.model.vocab_size, "targets");
    Executor& eval = runtime_.executor(to_string(Mode::eval));
    std::ranges::copy(tokens_, eval.values<std::int32_t>("tokens").begin());
    std::ranges::copy(targets_, eval.values<std::int32_t>("targets").begin());
    eval.run(Phase::step, {});
    return eval.values<const double>("loss")[0];
}

std::optional<DataLoss> DataEvaluation::run(const Progress& progress) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t batches = data_.validation->batches_per_epoch();
    DataLoss result;
    if (data_.bytes != nullptr) result.bytes = 0;
    double loss = 0;
    std::int64_t hits = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        loss += run_batch(batch);
        result.targets += std::ranges::count_if(targets_, is_scored);
        if (result.bytes) *result.bytes += data_.bytes->count(targets_);
        if (config_.data.is_task()) {
            Executor& logits = runtime_.executor(to_string(Mode::logits));
            std::ranges::copy(tokens_, logits.values<std::int32_t>("tokens").begin());
            logits.run(Phase::step, {});
            hits += count_hits<float>(logits.values<const float>("logits"), targets_);
        }
        if (progress && !progress(batch + 1, batches)) return std::nullopt;
    }
    if (!std::isfinite(loss)) throw NumericError(fmt::format("{}: the loss is {}", data_.description, loss));
    const double targets = static_cast<double>(std::max<std::int64_t>(result.targets, 1));
    result.loss = loss / targets;
    if (config_.data.is_task()) result.accuracy = static_cast<double>(hits) / targets;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
