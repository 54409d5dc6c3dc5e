#include "train/trainer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/accuracy.hpp"
#include "data/evaluation_sum.hpp"
#include "data/tokens.hpp"
#include "exec/model_runtime.hpp"
#include "io/checkpoint/load.hpp"
#include "io/run_folder.hpp"
#include "plan/update_factors.hpp"
#include "train/lr_schedule.hpp"

namespace causeway::train {
namespace {

std::vector<ExecutionPlan> make_plans(const Config& config, const TrainerOptions& options) {
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
    return plans;
}

/// Of the memory they share: of each region the largest.
std::size_t bytes_of(const std::vector<ExecutionPlan>& plans) {
    std::array<std::int64_t, region_count> largest{};
    for (const ExecutionPlan& plan : plans) {
        for (std::size_t r = 0; r < region_count; ++r) largest[r] = std::max(largest[r], plan.memory.region_bytes[r]);
    }
    return static_cast<std::size_t>(std::accumulate(largest.begin(), largest.end(), std::int64_t{0}));
}

}  // namespace

Trainer::Feed::Feed(Executor& of)
    : executor(&of),
      tokens(of.values<std::int32_t>("tokens")),
      targets(of.values<std::int32_t>("targets")),
      loss(of.values<const double>("loss")) {}

double Evaluation::perplexity() const { return std::exp(loss); }

Trainer::Trainer(const Config& config, TrainerOptions options)
    : config_(config),
      data_(options.data.train != nullptr ? std::move(options.data) : open_data(config)),
      windows_(data_.train->rows_per_epoch(), config.train.batch_size, config.train.gradient_accumulation_steps),
      steps_per_epoch_(config.train.steps_per_epoch > 0 ? config.train.steps_per_epoch : windows_.per_epoch()),
      step_limit_(train::step_limit(config.train, windows_, steps_per_epoch_)),
      guards_(config.train) {
    std::vector<ExecutionPlan> plans = make_plans(config, options);
    memory_bytes_ = bytes_of(plans);
    runtime_ = std::make_unique<ModelRuntime>(std::move(plans), static_cast<int>(config.runtime.threads),
                                              config.runtime.memory_limit_bytes());
    train_.emplace(runtime_->executor("train"));
    eval_.emplace(runtime_->executor("eval"));
    if (config.data.is_task()) logits_ = &runtime_->executor("logits");
    grad_norm_ = train_->executor->values<const double>("grad_norm");
    update_factors_ = train_->executor->values<const double>("update_factors");
    if (config.model.num_experts > 0 && config.model.mlp != MlpKind::none) {
        aux_loss_ = train_->executor->values<const double>("aux_loss");
        batch_load_ = train_->executor->values<const double>("aux_loss.expert_load");
        expert_load_.resize(batch_load_.size());
    }
    tokens_.resize(train_->tokens.size());
    targets_.resize(train_->targets.size());
    runtime_->initialize(config.train.seed);
}

Trainer::~Trainer() = default;

/// Makes these rows of a source, at most a batch, the current batch.
void Trainer::draw(const BatchSource& source, RowRange rows, const char* inputs, const char* targets) {
    source.check_files();
    source.fill_rows(rows.first, rows.count, tokens_, targets_);
    check_tokens(tokens_, config_.model.vocab_size, inputs);
    check_targets(targets_, config_.model.vocab_size, targets);
    valid_targets_ = std::count_if(targets_.begin(), targets_.end(), is_scored);
}

void Trainer::give_batch(Feed& feed) {
    std::copy(tokens_.begin(), tokens_.end(), feed.tokens.begin());
    std::copy(targets_.begin(), targets_.end(), feed.targets.begin());
}

/// Runs the current batch; the loss is then in feed.loss.
void Trainer::forward(Feed& feed, const RunArgs& args) {
    give_batch(feed);
    feed.executor->run(Phase::step, args);
}

/// Makes micro-batch i of the step's window the current batch; returns what its run needs to know.
RunArgs Trainer::draw_micro_batch(const StepReport& report, std::int64_t i) {
    draw(*data_.train, windows_.micro_batch(window_, i), "training inputs", "training targets");
    RunArgs args;
    args.accumulate = i > 0;
    args.seed = config_.train.seed;
    args.step = report.step;
    args.first_row = i * config_.train.batch_size;
    return args;
}

/// The gradients of a whole window; returns the sum of its losses.
double Trainer::run_window(StepReport& report) {
    double loss = 0;
    for (std::int64_t i = 0; i < windows_.micro_batches(window_); ++i) {
        forward(*train_, draw_micro_batch(report, i));
        loss += train_->loss[0];
        count_experts(report);
        report.valid_tokens += valid_targets_;
        report.tokens += windows_.micro_batch(window_, i).count * config_.train.sequence_length;
    }
    return loss;
}

StepReport Trainer::step() {
    const Stopwatch watch;
    StepReport report;
    report.step = step_ + 1;
    report.learning_rate = learning_rate(config_.train, step_limit_.steps.value_or(0), step_);
    const double loss = run_window(report);
    report.loss = loss / static_cast<double>(std::max<std::int64_t>(report.valid_tokens, 1));
    if (report.experts) report.experts->aux_loss /= static_cast<double>(std::max<std::int64_t>(report.valid_tokens, 1));
    if (!std::isfinite(loss)) {
        answer_not_finite(report, "loss", loss);
    } else if (report.valid_tokens > 0) {
        update(report);
    } else {
        report.updated = false;
    }
    if (!report.rolled_back) {
        ++step_;
        ++window_;
    }
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
    const double parts = static_cast<double>(windows_.micro_batches(window_));
    for (std::size_t i = 0; i < batch_load_.size(); ++i) expert_load_[i] += batch_load_[i] / parts;
}

void Trainer::update(StepReport& report) {
    RunArgs args;
    args.step = updates_ + 1;
    args.learning_rate = report.learning_rate;
    args.valid_tokens = static_cast<double>(report.valid_tokens);
    args.norm_limit = guards_.norm_limit();
    train_->executor->run(Phase::update, args);
    report.grad_norm = grad_norm_[0] / args.valid_tokens;
    // The update phase of the plan has seen the same norm and left parameters and moments alone where this is NaN.
    if (std::isnan(update_factors_[update_scale])) return answer_left_out(report);
    ++updates_;
    guards_.updated(report.step, report.grad_norm);
}

Evaluation Trainer::evaluate() { return *evaluate_until(nullptr); }

/// Nothing when the flag was set on the way.
std::optional<Evaluation> Trainer::evaluate_until(const std::atomic<bool>* stop) {
    if (data_.validation == nullptr) throw ConfigError("data: there is no validation set to evaluate");
    const Stopwatch watch;
    Evaluation result;
    EvaluationSum sum;
    eval_->executor->run(Phase::pack, {});
    if (logits_ != nullptr) logits_->run(Phase::pack, {});
    for (std::int64_t batch = 0; batch < data_.validation->batches_per_epoch(); ++batch) {
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return std::nullopt;
        const RowRange rows{batch * config_.train.batch_size, config_.train.batch_size};
        draw(*data_.validation, rows, "validation inputs", "validation targets");
        forward(*eval_, {});
        if (!std::isfinite(eval_->loss[0])) throw_bad_validation(rows);
        sum.add(eval_->loss[0], targets_, data_.bytes.get());
        if (logits_ != nullptr) sum.hits += count_hits();
    }
    result.loss = sum.mean_loss();
    result.valid_tokens = sum.targets;
    if (logits_ != nullptr) result.accuracy = sum.accuracy();
    result.bits_per_byte = sum.bits_per_byte();
    result.seconds = watch.seconds();
    return result;
}

std::int64_t Trainer::count_hits() {
    const std::span<std::int32_t> tokens = logits_->values<std::int32_t>("tokens");
    std::copy(tokens_.begin(), tokens_.end(), tokens.begin());
    logits_->run(Phase::step, {});
    return logits_->plan().dtype == DType::f64
               ? causeway::count_hits<double>(logits_->values<const double>("logits"), targets_)
               : causeway::count_hits<float>(logits_->values<const float>("logits"), targets_);
}

TrainerState Trainer::state() const {
    return {step_, window_, updates_, epoch_loss_, epoch_tokens_, elapsed_seconds_, guards_.state()};
}

void Trainer::set_state(const TrainerState& state) {
    guards_.restore(state.guards);
    step_ = state.step;
    window_ = state.window;
    updates_ = state.updates;
    epoch_loss_ = state.epoch_loss;
    epoch_tokens_ = state.epoch_tokens;
    elapsed_seconds_ = state.elapsed_seconds;
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
