#include "train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "base/ceil_div.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "exec/model_runtime.hpp"
#include "io/checkpoint/load.hpp"
#include "io/run_folder.hpp"
#include "train/lr_schedule.hpp"

namespace causeway::train {
namespace {

class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

std::unique_ptr<ModelRuntime> make_runtime(const Config& config, const TrainerOptions& options) {
    std::vector<Mode> modes{Mode::train, Mode::eval};
    if (config.data.is_task()) modes.push_back(Mode::logits);
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    for (Mode mode : modes) {
        CompileOptions compiled;
        compiled.mode = mode;
        compiled.dtype = options.dtype;
        compiled.fuse = options.fuse;
        plans.push_back(compile(config, compiled, shared));
    }
    if (options.companions) std::ranges::move(options.companions(shared), std::back_inserter(plans));
    const std::size_t limit = config.runtime.memory_limit_bytes();
    return std::make_unique<ModelRuntime>(std::move(plans), static_cast<int>(config.runtime.threads), limit);
}

std::int64_t find_steps_per_epoch(const TrainConfig& train, const BatchSource& source) {
    if (train.steps_per_epoch > 0) return train.steps_per_epoch;
    return ceil_div(source.rows_per_epoch(), train.batch_size * train.gradient_accumulation_steps);
}

template <class T>
std::optional<std::int64_t> first_not_finite(const TensorView& view) {
    const T* data = view.as<const T>();
    for (std::int64_t i = 0; i < view.desc.stored_elements; ++i) {
        if (!std::isfinite(data[i])) return i;
    }
    return std::nullopt;
}

/// Scored positions whose target has the largest logit; the lowest id wins among equals.
template <class T>
std::int64_t hits(std::span<const T> logits, std::span<const std::int32_t> targets) {
    const std::size_t vocab = logits.size() / targets.size();
    std::int64_t count = 0;
    for (std::size_t r = 0; r < targets.size(); ++r) {
        if (!is_scored(targets[r])) continue;
        const auto row = logits.subspan(r * vocab, vocab);
        const auto best = std::max_element(row.begin(), row.end()) - row.begin();
        if (best == targets[r]) ++count;
    }
    return count;
}

}  // namespace

Trainer::Feed::Feed(Executor& of)
    : executor(&of),
      tokens(of.values<std::int32_t>("tokens")),
      targets(of.values<std::int32_t>("targets")),
      loss(of.values<const double>("loss")) {}

Trainer::Trainer(const Config& config, TrainerOptions options) : config_(config) {
    data_ = options.data.train != nullptr ? std::move(options.data) : open_data(config);
    runtime_ = make_runtime(config, options);
    train_.emplace(runtime_->executor("train"));
    eval_.emplace(runtime_->executor("eval"));
    if (config.data.is_task()) logits_ = &runtime_->executor("logits");
    grad_norm_ = train_->executor->values<const double>("grad_norm");
    if (config.model.num_experts > 0 && config.model.mlp != MlpKind::none) {
        aux_loss_ = train_->executor->values<const double>("aux_loss");
        batch_load_ = train_->executor->values<const double>("aux_loss.expert_load");
        expert_load_.resize(batch_load_.size());
    }
    tokens_.resize(train_->tokens.size());
    targets_.resize(train_->targets.size());
    steps_per_epoch_ = find_steps_per_epoch(config.train, *data_.train);
    runtime_->initialize(config.train.seed);
}

Trainer::~Trainer() = default;

/// Makes a batch of a source the current one.
void Trainer::draw(const BatchSource& source, std::int64_t batch, const char* inputs, const char* targets) {
    source.fill(batch, tokens_, targets_);
    check_tokens(tokens_, config_.model.vocab_size, inputs);
    check_targets(targets_, config_.model.vocab_size, targets);
    valid_targets_ = std::count_if(targets_.begin(), targets_.end(), is_scored);
}

/// Runs the current batch; the loss is then in feed.loss.
void Trainer::forward(Feed& feed, const RunArgs& args) {
    std::copy(tokens_.begin(), tokens_.end(), feed.tokens.begin());
    std::copy(targets_.begin(), targets_.end(), feed.targets.begin());
    feed.executor->run(Phase::step, args);
}

StepReport Trainer::step() {
    const Stopwatch watch;
    const std::int64_t micro_batches = config_.train.gradient_accumulation_steps;
    StepReport report;
    report.step = step_ + 1;
    report.learning_rate = learning_rate(config_.train, step_);
    double loss = 0;
    for (std::int64_t i = 0; i < micro_batches; ++i) {
        draw(*data_.train, step_ * micro_batches + i, "training inputs", "training targets");
        RunArgs args;
        args.accumulate = i > 0;
        args.seed = config_.train.seed;
        args.step = report.step;
        args.first_row = i * config_.train.batch_size;
        forward(*train_, args);
        loss += train_->loss[0];
        count_experts(report);
        report.valid_tokens += valid_targets_;
        report.tokens += static_cast<std::int64_t>(tokens_.size());
    }
    if (!std::isfinite(loss)) throw_not_finite(report.step, "loss", loss);
    if (report.valid_tokens > 0) {
        report.loss = loss / static_cast<double>(report.valid_tokens);
        if (report.experts) report.experts->aux_loss /= static_cast<double>(report.valid_tokens);
        update(report);
    } else {
        report.updated = false;
    }
    ++step_;
    report.seconds = watch.seconds();
    return report;
}

/// Adds the micro-batch that has just run: the auxiliary loss times its valid targets, and its part of the mean load.
void Trainer::count_experts(StepReport& report) {
    if (batch_load_.empty()) return;
    if (!report.experts) {
        report.experts = ExpertReport{0, config_.model.num_experts, expert_load_};
        std::fill(expert_load_.begin(), expert_load_.end(), 0.0);
    }
    report.experts->aux_loss += aux_loss_[0] * static_cast<double>(valid_targets_);
    const double parts = static_cast<double>(config_.train.gradient_accumulation_steps);
    for (std::size_t i = 0; i < batch_load_.size(); ++i) expert_load_[i] += batch_load_[i] / parts;
}

void Trainer::update(StepReport& report) {
    RunArgs args;
    args.step = updates_ + 1;
    args.learning_rate = report.learning_rate;
    args.valid_tokens = static_cast<double>(report.valid_tokens);
    train_->executor->run(Phase::update, args);
    report.grad_norm = grad_norm_[0] / args.valid_tokens;
    // The update step of the plan has seen the same norm and left the parameters alone.
    if (!std::isfinite(report.grad_norm)) throw_not_finite(report.step, "gradient norm", report.grad_norm);
    ++updates_;
}

void Trainer::throw_not_finite(std::int64_t step, const char* what, double value) {
    for (const NamedTensor& gradient : gradients()) {
        const bool wide = gradient.view.desc.dtype == DType::f64;
        const auto at = wide ? first_not_finite<double>(gradient.view) : first_not_finite<float>(gradient.view);
        if (!at) continue;
        throw NumericError(
            fmt::format("step {}: the {} is {}: '{}' has a value that is not finite, element {} of {}; "
                        "the parameters are as before the step",
                        step, what, value, gradient.name, *at, to_string(gradient.view.desc.shape)));
    }
    throw NumericError(
        fmt::format("step {}: the {} is {} while every gradient is finite; the parameters are as before "
                    "the step",
                    step, what, value));
}

Evaluation Trainer::evaluate() { return *evaluate_until(nullptr); }

/// Nothing when the flag was set on the way.
std::optional<Evaluation> Trainer::evaluate_until(const std::atomic<bool>* stop) {
    if (data_.validation == nullptr) throw ConfigError("data: there is no validation set to evaluate");
    const Stopwatch watch;
    Evaluation result;
    double loss = 0;
    std::int64_t right = 0;
    eval_->executor->run(Phase::pack, {});
    if (logits_ != nullptr) logits_->run(Phase::pack, {});
    for (std::int64_t batch = 0; batch < data_.validation->batches_per_epoch(); ++batch) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return std::nullopt;
        draw(*data_.validation, batch, "validation inputs", "validation targets");
        forward(*eval_, {});
        loss += eval_->loss[0];
        result.valid_tokens += valid_targets_;
        if (logits_ != nullptr) right += count_hits();
    }
    if (!std::isfinite(loss)) {
        throw NumericError(fmt::format("after step {}: the validation loss is {}", step_, loss));
    }
    const double valid = static_cast<double>(std::max<std::int64_t>(result.valid_tokens, 1));
    result.loss = loss / valid;
    if (logits_ != nullptr) result.accuracy = static_cast<double>(right) / valid;
    result.seconds = watch.seconds();
    return result;
}

std::int64_t Trainer::count_hits() {
    const std::span<std::int32_t> tokens = logits_->values<std::int32_t>("tokens");
    std::copy(tokens_.begin(), tokens_.end(), tokens.begin());
    logits_->run(Phase::step, {});
    return logits_->plan().dtype == DType::f64 ? hits<double>(logits_->values<const double>("logits"), targets_)
                                               : hits<float>(logits_->values<const float>("logits"), targets_);
}

bool Trainer::evaluates_after(std::int64_t step) const {
    if (data_.validation == nullptr) return false;
    const std::int64_t every = config_.train.eval_every;
    return step == config_.train.max_steps || (every > 0 && step % every == 0);
}

std::optional<EpochReport> Trainer::count_towards_epoch(const StepReport& report) {
    if (steps_per_epoch_ == 0) return std::nullopt;
    epoch_loss_ += report.loss * static_cast<double>(report.valid_tokens);
    epoch_tokens_ += report.valid_tokens;
    if (report.step % steps_per_epoch_ != 0) return std::nullopt;
    const EpochReport epoch{report.step / steps_per_epoch_,
                            epoch_loss_ / static_cast<double>(std::max<std::int64_t>(epoch_tokens_, 1))};
    epoch_loss_ = 0;
    epoch_tokens_ = 0;
    return epoch;
}

RunResult Trainer::run(const RunHooks& hooks) {
    const Stopwatch watch;
    const auto stop = [&] { return hooks.stop != nullptr && hooks.stop->load(std::memory_order_relaxed); };
    RunResult result;
    while (step_ < config_.train.max_steps && !stop()) {
        Progress progress;
        progress.step = result.last_step = step();
        progress.epoch = count_towards_epoch(progress.step);
        result.validation.reset();
        if (evaluates_after(step_) && !stop()) progress.validation = result.validation = evaluate_until(hooks.stop);
        progress.elapsed_seconds = watch.seconds();
        if (hooks.on_step) hooks.on_step(progress);
    }
    result.stopped = step_ < config_.train.max_steps;
    result.seconds = watch.seconds();
    return result;
}

void Trainer::save(const std::string& folder) { save_run({folder}, config_, parameters()); }

std::vector<std::string> Trainer::load_parameters(const std::string& path) {
    const std::vector<NamedTensor> tensors = parameters();
    std::vector<std::string> unused = causeway::load_parameters(path, config_.model, tensors);
    refresh();
    return unused;
}

std::vector<NamedTensor> Trainer::parameters() { return runtime_->parameters(); }
std::vector<NamedTensor> Trainer::gradients() { return runtime_->gradients(); }
std::vector<NamedTensor> Trainer::moments() { return runtime_->moments(); }
void Trainer::refresh() { runtime_->refresh(); }
std::int64_t Trainer::parameter_count() { return runtime_->parameter_count(); }
int Trainer::threads() const { return runtime_->pool().threads(); }
const ExecutionPlan& Trainer::plan(std::string_view mode) const { return runtime_->plan(mode); }

double Trainer::flops_per_step() const {
    return plan("train").flops(Phase::step) * static_cast<double>(config_.train.gradient_accumulation_steps);
}

}  // namespace causeway::train
