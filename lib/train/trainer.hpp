#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "data/open_data.hpp"
#include "plan/execution_plan.hpp"
#include "tensor/named_tensor.hpp"
#include "train/data_fingerprint.hpp"
#include "train/guards.hpp"
#include "train/limits.hpp"
#include "train/trainer_state.hpp"
#include "train/windows.hpp"

namespace causeway {
class ModelRuntime;
class Executor;
class SharedLayout;
}  // namespace causeway

/// Training inside the library; causeway::Trainer of the public API is its face.
namespace causeway::train {

/// How a step's tokens spread over the experts.
struct ExpertReport {
    double aux_loss = 0;       ///< without its coefficient, mean over micro-batches weighted by their valid targets
    std::int64_t experts = 0;  ///< of a layer
    /// (layers, experts): each expert's share of a layer's choices, which add up to 1; mean over micro-batches. Read it
    /// before the trainer's next step.
    std::span<const double> load;
};

/// What one optimizer step did.
struct StepReport {
    std::int64_t step = 0;                ///< optimizer steps done, this one included
    double loss = 0;                      ///< mean cross-entropy over all valid targets of the accumulation window
    double learning_rate = 0;             ///< of this step
    double grad_norm = 0;                 ///< global L2 norm of the mean loss's gradient, before clipping
    std::int64_t valid_tokens = 0;        ///< targets that count
    std::int64_t tokens = 0;              ///< of the window's rows: B * T * gradient_accumulation_steps, fewer at an
                                          ///< epoch's end
    double seconds = 0;                   ///< drawing the batches included
    bool updated = true;                  ///< false: nothing was learned: no target counted (loss and norm are 0), or
                                          ///< the step was left out because of a fault
    StepFault fault = StepFault::none;    ///< why it was left out, by train.on_non_finite or train.on_spike
    bool rolled_back = false;             ///< the trainer stands where its last checkpoint did, this step undone
    std::string fault_text;               ///< what was found and done, for people
    std::optional<ExpertReport> experts;  ///< of models with experts
};

/// What one pass over the validation data found.
struct Evaluation {
    double loss = 0;                 ///< mean cross-entropy over all valid targets; 0, and no result, without any
    std::int64_t valid_tokens = 0;   ///< targets that count
    std::optional<double> accuracy;  ///< built-in tasks: share of scored positions whose target has the largest logit
    double seconds = 0;
    std::optional<double> bits_per_byte;  ///< of text: loss / ln 2, over the bytes a target stands for

    double perplexity() const;  ///< exp(loss); infinite where that is too large
};

/// The mean loss of the steps of an epoch, weighted by their valid targets.
struct EpochReport {
    std::int64_t epoch = 0;  ///< from 1
    double mean_loss = 0;
};

/// What is known when a step of Trainer::run has ended: one line of metrics.jsonl.
struct Progress {
    StepReport step;
    std::optional<Evaluation> validation;  ///< when the model was evaluated after this step
    std::optional<EpochReport> epoch;      ///< when an epoch ended with this step
    double elapsed_seconds = 0;            ///< of training so far, before an interruption too
    std::optional<EndedBy> ended_by;       ///< when the run ends with this step
};

struct RunHooks {
    /// After every step, but those that were undone by a rollback; what it throws ends the run.
    std::function<void(const Progress&)> on_step;
    /// Looked at after every step and every batch of an evaluation: once true, the run ends as if a limit were reached,
    /// without a last evaluation. May be set from a signal handler.
    const std::atomic<bool>* stop = nullptr;
};

/// How a run ended.
struct RunResult {
    StepReport last_step;
    std::optional<Evaluation> validation;  ///< after the last step; none when stopped or without validation data
    double seconds = 0;
    bool stopped = false;  ///< by RunHooks::stop
    EndedBy ended_by = EndedBy::max_steps;
};

struct TrainerOptions {
    DType dtype = DType::f32;  ///< f64 trains on the reference kernels
    bool fuse = true;          ///< false: one step an op, to compare with
    /// Instead of what section "data" says; both sources must have (batch_size, sequence_length) batches. Without a
    /// validation source nothing is evaluated.
    DataSources data;
    /// Compiles further plans of the model into the trainer's memory, to run between steps on the live parameters
    /// (infer::decoder_plans); training's own results do not change by a bit. They count in the memory that is checked.
    std::function<std::vector<ExecutionPlan>(SharedLayout&)> companions;
};

/// Trains the model of a config: everything is compiled, placed and opened in the constructor; no step allocates.
/// The same config gives the same bits whatever the number of threads (same binary, same instruction set).
class Trainer {
  public:
    /// Compiles the plans (train, eval; logits for built-in tasks), opens the data, draws the parameters from
    /// train.seed. Takes a resolved config, as load_config and resolve_config return it. Throws ConfigError, IoError,
    /// DataError, or CapacityError when the memory does not suffice, before any of it is reserved.
    explicit Trainer(const Config& config, TrainerOptions options = {});
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// One optimizer step: gradient_accumulation_steps micro-batches (fewer at the end of an epoch of the data),
    /// weighted by their valid targets, then the update. A loss or gradient that is not finite, or a spike, is answered
    /// by train.on_non_finite and train.on_spike: with skip the step is left out and the report says so. Throws
    /// DataError for a token or target outside the vocabulary, NumericError, naming the step, the op and the parameter,
    /// for what is to stop the run, or the eleventh step in a row that is left out; the parameters are then as before
    /// the step.
    StepReport step();

    /// The mean loss over the whole validation set, summed in double. Throws ConfigError when there is no such set.
    Evaluation evaluate();

    /// Steps until the first limit of section "train" is reached, evaluating every train.eval_every steps and at the
    /// end.
    RunResult run(const RunHooks& hooks = {});

    /// Writes config.json (resolved) and model.safetensors into a folder, made if need be; each file is replaced
    /// atomically. Throws IoError.
    void save(const std::string& folder);

    /// Replaces the parameters by those of a checkpoint (file or folder, see StoredTensors::open); returns the names of
    /// tensors the model has no use for.
    /// Throws IoError with one report of all missing and misshapen tensors; nothing is changed then.
    std::vector<std::string> load_parameters(const std::string& path);

    /// What a checkpoint keeps beside parameters() and moments(). Between two steps, and in RunHooks::on_step.
    TrainerState state() const;
    /// Goes on from there; parameters and moments are set by their views, before refresh().
    void set_state(const TrainerState& state);
    /// Of the data that it trains on and is measured on, as it is now.
    std::string data_fingerprint() const { return train::data_fingerprint(data_); }

    const Config& config() const { return config_; }
    /// What is trained on, for people; empty when TrainerOptions::data says nothing.
    const std::string& data_description() const { return data_.description; }
    std::int64_t steps_done() const { return step_; }
    /// The step that ends the run, and which limit says so; train.max_time_s may end it before.
    const StepLimit& step_limit() const { return step_limit_; }
    /// The limit that is reached now, after so many seconds of the run; none when it goes on.
    std::optional<EndedBy> reached_limit(double seconds) const;
    /// What train.on_non_finite and on_spike rollback do: puts the trainer where its newest checkpoint stands, with the
    /// data's position beyond the present step, as RunCheckpoints::roll_back does. Throws IoError where there is none.
    /// Without it a rollback is an error.
    void on_rollback(std::function<void(const std::string& reason)> restore) { restore_ = std::move(restore); }
    /// What the guards against faults remember.
    const GuardState& guard_state() const { return guards_.state(); }
    /// Steps of an epoch: train.steps_per_epoch, or one pass over the data with epoch sampling; 0: there are none.
    std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

    /// Parameters under their names in model.safetensors; a tied one once. After writing to them call refresh().
    std::vector<NamedTensor> parameters();
    /// Gradients of the sum of losses of the last window, "<parameter>.grad".
    std::vector<NamedTensor> gradients();
    /// What the optimizer keeps: "<parameter>.m", Adam's first moment or SGD's momentum (0: none), and
    /// "<parameter>.v", Adam's second.
    std::vector<NamedTensor> moments();
    void refresh();

    std::int64_t parameter_count();
    /// Of all its plans, companions included.
    std::size_t memory_bytes() const { return memory_bytes_; }
    int threads() const;
    /// The plan of mode "train", "eval" or "logits". Throws GraphError when there is none.
    const ExecutionPlan& plan(std::string_view mode) const;
    /// Floating-point operations of one optimizer step, forward and backward.
    double flops_per_step() const;
    ModelRuntime& runtime() { return *runtime_; }

  private:
    /// Where the plan of a mode takes its batch from and leaves its loss.
    struct Feed {
        explicit Feed(Executor& of);
        Executor* executor;
        std::span<std::int32_t> tokens, targets;
        std::span<const double> loss;
    };

    void draw(const BatchSource& source, RowRange rows, const char* inputs, const char* targets);
    void give_batch(Feed& feed);
    void forward(Feed& feed, const RunArgs& args);
    RunArgs draw_micro_batch(const StepReport& report, std::int64_t i);
    double run_window(StepReport& report);
    void update(StepReport& report);
    void count_experts(StepReport& report);
    std::optional<Evaluation> evaluate_until(const std::atomic<bool>* stop);
    std::int64_t count_hits();

    // step_faults.cpp: what happens when a step goes wrong.
    void answer_not_finite(StepReport& report, const char* what, double value);
    void answer_left_out(StepReport& report);
    void answer(StepReport& report, StepFault fault, FaultPolicy policy, const std::string& text);
    std::string trace_fault(const StepReport& report);
    void restore_last_good(const std::string& reason);
    [[noreturn]] void throw_bad_validation(RowRange rows);

    // trainer_run.cpp: what happens between steps.
    bool evaluates_after(std::int64_t step, bool last) const;
    std::optional<EpochReport> count_towards_epoch(const StepReport& report);

    Config config_;
    DataSources data_;
    std::unique_ptr<ModelRuntime> runtime_;
    std::size_t memory_bytes_ = 0;
    std::optional<Feed> train_, eval_;
    std::vector<std::int32_t> tokens_, targets_;     ///< the current batch (B,T)
    std::int64_t valid_targets_ = 0;                 ///< of it
    Executor* logits_ = nullptr;                     ///< built-in tasks
    std::span<const double> grad_norm_;              ///< of the summed loss, in the update phase of the plan
    std::span<const double> update_factors_;         ///< by UpdateFactor
    std::span<const double> aux_loss_, batch_load_;  ///< of a micro-batch; empty without experts
    std::vector<double> expert_load_;                ///< of the step
    Windows windows_;
    std::int64_t steps_per_epoch_ = 0;
    StepLimit step_limit_;
    Guards guards_;
    std::function<void(const std::string&)> restore_;
    std::int64_t step_ = 0;     ///< steps done
    std::int64_t window_ = 0;   ///< windows of data seen: the data's position
    std::int64_t updates_ = 0;  ///< of the steps, those that changed parameters: Adam's own count
    double epoch_loss_ = 0;     ///< sum over the valid targets of the epoch so far
    std::int64_t epoch_tokens_ = 0;
    double elapsed_seconds_ = 0;  ///< of run(), all calls together
};

}  // namespace causeway::train
