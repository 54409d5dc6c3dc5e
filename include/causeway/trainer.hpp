#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "causeway/program.hpp"

namespace causeway {

/// What one optimizer step did.
struct StepReport {
    std::int64_t step = 0;          ///< optimizer steps done, this one included
    double loss = 0;                ///< mean cross-entropy in nats over all valid targets of the step
    double learning_rate = 0;       ///< of this step
    double grad_norm = 0;           ///< global L2 norm of the loss's gradient, before clipping
    std::int64_t valid_tokens = 0;  ///< targets that count
    double tokens_per_second = 0;   ///< drawing the batches included
    bool updated = true;            ///< false: nothing was learned: no target counted, or the step was left out
    std::string fault;              ///< why it was left out (train.on_non_finite, train.on_spike); mostly empty
};

/// What one pass over the validation data found.
struct Evaluation {
    double loss = 0;                      ///< mean cross-entropy in nats over all valid targets; 0 without any
    std::int64_t valid_tokens = 0;        ///< targets that count
    std::optional<double> accuracy;       ///< built-in tasks: share of scored positions predicted right, 0 to 1
    std::optional<double> bits_per_byte;  ///< of text: the loss in bits, over the bytes that a target stands for
};

/// How a trainer came to go on with a run.
struct Resumed {
    std::int64_t step = 0;           ///< steps done
    std::string checkpoint;          ///< the folder it goes on from
    std::vector<std::string> notes;  ///< for people: damaged checkpoints passed over, changed fields, rounding
};

/// Trains the model of a program. No step allocates memory; the same program gives bit-identical results whatever the
/// number of threads. One thread at a time may use a trainer; several trainers may live side by side.
///
///     causeway::Trainer trainer(causeway::compile_file("configs/repeat_h4.json", {"runtime.threads=2"}));
///     const double first = trainer.step().loss;
///     trainer.run([](const causeway::StepReport& report) { return report.loss > 0.01; });  // until good enough
///     trainer.save("run");
class Trainer {
  public:
    /// Reserves the memory, opens the data, draws the parameters from train.seed. Throws CapacityError (more memory
    /// than there is, with both figures, before any is taken), IoError or DataError for the data.
    explicit Trainer(const Program& program);
    ~Trainer();
    Trainer(Trainer&& other) noexcept;
    Trainer& operator=(Trainer&& other) noexcept;

    /// One optimizer step: train.gradient_accumulation_steps micro-batches, then the update. Throws NumericError,
    /// naming the step, the op and the parameter, for a loss or gradient that is not finite (unless train.on_non_finite
    /// says otherwise), and DataError for a token outside the vocabulary; the parameters are then as before the step.
    StepReport step();

    /// Steps until a limit of section "train" is reached (max_steps, max_epochs, max_tokens; max_time_s over all calls,
    /// those before a resume too) or `on_step` returns false, which is called after each step but those that a rollback
    /// undid. Where there is validation data it is gone through every train.eval_every steps and after the last, for
    /// save_checkpoint to know the best. Returns the last report. Throws as step() does.
    StepReport run(const std::function<bool(const StepReport&)>& on_step = {});

    /// Mean loss (and accuracy) over the whole validation data.
    Evaluation evaluate();

    std::int64_t steps_done() const;

    /// Writes config.json and model.safetensors into a folder, made if need be; each replaces an older one atomically.
    /// Throws IoError.
    void save(const std::string& folder);

    /// Writes everything that is needed to go on exactly from here into `folder`/checkpoints/step_<number>, which
    /// appears as a whole or not at all, and config.json and model.safetensors beside it, as save does. Keeps the
    /// train.keep_checkpoints newest checkpoints, and the one that evaluate() or run() found best. Takes no memory to
    /// speak of. run() does not call it, whatever train.checkpoint_every says: that is the command line's. The newest
    /// checkpoint in the folder that was saved to or resumed from last is what the answer "rollback" of
    /// train.on_non_finite and train.on_spike goes back to; without one that answer is an error. Throws IoError; older
    /// checkpoints are then as before.
    ///
    ///     causeway::Trainer first(program), second(program);
    ///     for (int i = 0; i < 10; ++i) first.step();
    ///     first.save_checkpoint("run");
    ///     second.resume("run");  // both continue with the same bits
    void save_checkpoint(const std::string& folder);

    /// Goes on from the newest checkpoint in `folder` that is not damaged: parameters, optimizer and data position are
    /// as they were, for any number of threads. Throws ConfigError for a field of the program that may not differ from
    /// the run's (docs/resume.md), DataError when the data is another, IoError when there is no checkpoint or none is
    /// good; nothing is changed then.
    Resumed resume(const std::string& folder);

    /// Replaces the parameters by those of a run's folder, a folder from HuggingFace, a safetensors file (F32, F64, F16
    /// or BF16; names of any of these) or a .bin checkpoint of llm.c. Returns the names of tensors that the model has
    /// no use for. Throws IoError with a report of all missing and misshapen tensors; nothing is changed then.
    std::vector<std::string> load(const std::string& path);

    /// The values of a parameter, row-major, valid as long as the trainer. After writing to them call
    /// parameters_changed(). Throws GraphError when there is no such parameter. O(number of parameters).
    std::span<float> parameter(std::string_view name);

    /// The gradient of the last step's mean loss with respect to a parameter is these values divided by the step's
    /// valid_tokens: they are of the sum of losses, before clipping. Valid until the next step.
    std::span<const float> summed_gradient(std::string_view name);

    /// To be called after writing to parameters: packed copies are made anew. O(parameters).
    void parameters_changed();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace causeway
