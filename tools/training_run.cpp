#include "training_run.hpp"

#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "command.hpp"
#include "io/step_lines.hpp"
#include "output.hpp"
#include "train_texts.hpp"

namespace causeway::cli {

TrainingRun::TrainingRun(const RunParts& parts)
    : parts_(parts),
      bus_error_("causeway train",
                 fmt::format("its checkpoints are good: --resume {} goes on from the newest", parts.folder.folder)),
      metrics_(std::in_place, parts.folder.metrics(), parts.metrics),
      display_(parts.facts, stdout_is_terminal(), stdout_has_colour()) {}

int TrainingRun::operator()() {
    parts_.trainer.on_rollback([this](const std::string& reason) { roll_back(reason); });
    train::RunHooks hooks;
    hooks.stop = &parts_.signal.flag();
    hooks.on_step = [this](const train::Progress& progress) { after_step(progress); };
    const Stopwatch watch;
    train::RunResult result;
    try {
        result = parts_.trainer.run(hooks);
        if (parts_.trainer.steps_done() > 0) save();
    } catch (const Error& error) {
        const double taken = watch.seconds();
        const std::string lost = save_after(error);
        // Where a disk is full the records cannot be written either, which needs no second message.
        (void)parts_.records.end(report::RunState::failed, error.what());
        show_watched(taken);
        if (lost.empty()) throw;
        throw IoError(lost);
    }
    if (const std::int64_t steps = parts_.trainer.steps_done(); steps > 0) {
        say([&] { display_.finish(); });
        say([&] { print(summary_text(result, steps, parts_.folder.folder)); });
    }
    warn(parts_.records.end(result.stopped ? report::RunState::stopped : report::RunState::done, end_text(result)));
    show_watched(result.seconds);
    return outcome(result);
}

template <class F>
void TrainingRun::say_always(F&& f) {
    if (!lost_output_.empty()) return;
    try {
        f();
    } catch (const OutputError& error) {
        lost_output_ = error.what();
        parts_.signal.request();
    }
}

void TrainingRun::after_step(const train::Progress& progress) {
    const std::int64_t step = progress.step.step, every = parts_.trainer.config().train.checkpoint_every;
    if (const auto& validation = progress.validation; validation && validation->valid_tokens > 0) {
        parts_.checkpoints.evaluated(step, validation->loss);
    }
    metrics_->write(progress);
    warn(progress.step.fault_text);
    warn(parts_.records.after_step(progress));
    warn(parts_.watch.after_step(progress));
    say([&] { display_.show(progress); });
    if (every > 0 && step % every == 0) save();
}

/// What was recorded of the steps that are undone goes too.
void TrainingRun::roll_back(const std::string& reason) {
    const std::int64_t step = parts_.checkpoints.roll_back();
    cut_after(parts_.folder.metrics(), step);
    metrics_.emplace(parts_.folder.metrics(), AppendFile::Mode::append);
    warn(parts_.records.roll_back(step));
    warn(fmt::format("{}; going on from the checkpoint of step {}, with the data after that step", reason, step));
}

/// The metrics first: what a checkpoint counts as done must not be missing there.
void TrainingRun::save() {
    try {
        metrics_->sync();
        parts_.checkpoints.save(metrics_->line());
    } catch (const Error& error) {
        saving_failed_ = true;
        const auto newest = parts_.checkpoints.newest();
        const std::string good = newest ? fmt::format("the checkpoint of step {} is good: --resume {} goes on from it",
                                                      *newest, parts_.folder.folder)
                                        : "there is no older checkpoint";
        throw IoError(fmt::format("step {} is not saved: {}; {}", parts_.trainer.steps_done(), error.what(), good));
    }
}

/// On standard error, below what is being redrawn.
void TrainingRun::warn(const std::string& trouble) {
    if (trouble.empty()) return;
    say([&] { display_.finish(); });
    complain("causeway train", trouble);
}

/// After a run of that many seconds: the rest of the trace, and the profile.
void TrainingRun::show_watched(double run_seconds) {
    warn(parts_.watch.after_run());
    if (lost_output_.empty()) say_always([&] { print(parts_.watch.profile(run_seconds)); });
}

/// What is to be said when what was learned cannot be saved.
std::string TrainingRun::save_after(const Error& error) {
    say([&] { display_.finish(); });
    if (parts_.trainer.steps_done() == 0 || saving_failed_) return "";
    try {
        save();
        return "";
    } catch (const Error& second) {
        return fmt::format("{}; and {}", error.what(), second.what());
    }
}

int TrainingRun::outcome(const train::RunResult& result) const {
    if (!lost_output_.empty()) {
        const std::int64_t steps = parts_.trainer.steps_done();
        const std::string end = result.stopped ? fmt::format("stopped after step {}", steps)
                                               : fmt::format("done after {}", plural(steps, "step"));
        throw OutputError(fmt::format("{}; {}, saved in {}", lost_output_, end, parts_.folder.folder));
    }
    const bool failed = parts_.watch.failed() || parts_.records.failed();
    if (parts_.signal.number() == 0) return failed ? exit_failure : exit_success;
    complain("causeway train", signal_text(result));
    return 128 + parts_.signal.number();
}

/// Why the run ended, for its record.
std::string TrainingRun::end_text(const train::RunResult& result) const {
    const std::string steps = plural(parts_.trainer.steps_done(), "step");
    if (!result.stopped) return fmt::format("train.{} after {}", to_string(result.ended_by), steps);
    return fmt::format("{} after {}", parts_.signal.number() > 0 ? parts_.signal.name() : "nobody listened any more",
                       steps);
}

std::string TrainingRun::signal_text(const train::RunResult& result) const {
    const std::string& folder = parts_.folder.folder;
    const char* name = parts_.signal.name();
    const std::int64_t steps = parts_.trainer.steps_done();
    if (steps == 0) return fmt::format("ended by {} before the first step", name);
    if (!result.stopped) return fmt::format("{} came after the last step; saved in {}", name, folder);
    return fmt::format("ended by {} after step {}, saved in {}; --resume {} goes on", name, steps, folder, folder);
}

}  // namespace causeway::cli
