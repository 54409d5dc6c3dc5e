// Trainer::run: the loop over steps, and what it does between them.
#include <algorithm>

#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "train/trainer.hpp"

namespace causeway::train {

bool Trainer::evaluates_after(std::int64_t step, bool last) const {
    if (data_.validation == nullptr) return false;
    const std::int64_t every = config_.train.eval_every;
    return last || (every > 0 && step % every == 0);
}

std::optional<EpochReport> Trainer::count_towards_epoch(const StepReport& report) {
    if (steps_per_epoch_ == 0) return std::nullopt;
    if (report.fault == StepFault::none) {
        epoch_loss_ += report.loss * static_cast<double>(report.valid_tokens);
        epoch_tokens_ += report.valid_tokens;
    }
    if (window_ % steps_per_epoch_ != 0) return std::nullopt;
    const EpochReport epoch{window_ / steps_per_epoch_,
                            epoch_loss_ / static_cast<double>(std::max<std::int64_t>(epoch_tokens_, 1))};
    epoch_loss_ = 0;
    epoch_tokens_ = 0;
    return epoch;
}

std::optional<EndedBy> Trainer::reached_limit(double seconds) const {
    if (step_limit_.steps && step_ >= *step_limit_.steps) return step_limit_.by;
    if (config_.train.max_time_s > 0 && seconds >= config_.train.max_time_s) return EndedBy::max_time_s;
    return std::nullopt;
}

RunResult Trainer::run(const RunHooks& hooks) {
    const Stopwatch watch;
    const double before = elapsed_seconds_;
    const auto stop = [&] { return hooks.stop != nullptr && hooks.stop->load(std::memory_order_relaxed); };
    RunResult result;
    std::optional<EndedBy> ended_by = reached_limit(before);
    while (!ended_by && !stop()) {
        Progress progress;
        progress.step = result.last_step = step();
        if (progress.step.rolled_back) continue;
        progress.epoch = count_towards_epoch(progress.step);
        ended_by = reached_limit(before + watch.seconds());
        result.validation.reset();
        const auto tell = [&] {
            progress.elapsed_seconds = elapsed_seconds_ = before + watch.seconds();
            if (hooks.on_step) hooks.on_step(progress);
        };
        try {
            if (evaluates_after(step_, ended_by.has_value()) && !stop()) {
                progress.validation = result.validation = evaluate_until(hooks.stop);
            }
        } catch (const Error&) {
            tell();  // the step is done all the same
            throw;
        }
        if (!ended_by && stop()) ended_by = EndedBy::stop;
        progress.ended_by = ended_by;
        tell();
    }
    result.ended_by = ended_by.value_or(EndedBy::stop);
    result.stopped = result.ended_by == EndedBy::stop;
    result.seconds = watch.seconds();
    return result;
}

}  // namespace causeway::train
