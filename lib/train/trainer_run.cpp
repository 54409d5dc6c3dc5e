// Trainer::run: the loop over steps, and what it does between them.
#include <algorithm>

#include "causeway/error.hpp"
#include "train/stopwatch.hpp"
#include "train/trainer.hpp"

namespace causeway::train {

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
    const double before = elapsed_seconds_;
    const auto stop = [&] { return hooks.stop != nullptr && hooks.stop->load(std::memory_order_relaxed); };
    RunResult result;
    while (step_ < config_.train.max_steps && !stop()) {
        Progress progress;
        progress.step = result.last_step = step();
        progress.epoch = count_towards_epoch(progress.step);
        result.validation.reset();
        const auto tell = [&] {
            progress.elapsed_seconds = elapsed_seconds_ = before + watch.seconds();
            if (hooks.on_step) hooks.on_step(progress);
        };
        try {
            if (evaluates_after(step_) && !stop()) progress.validation = result.validation = evaluate_until(hooks.stop);
        } catch (const Error&) {
            tell();  // the step is done all the same
            throw;
        }
        tell();
    }
    result.stopped = step_ < config_.train.max_steps;
    result.seconds = watch.seconds();
    return result;
}

}  // namespace causeway::train
