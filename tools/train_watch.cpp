#include "train_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "inspect/machine.hpp"
#include "io/atomic_file.hpp"

namespace causeway::cli {
namespace {

/// The first step is left out, unless there is no other.
TimelineWindow window_of(const train::Trainer& trainer, std::int64_t steps) {
    const TrainConfig& train = trainer.config().train;
    const std::int64_t left = train.max_steps - trainer.steps_done();
    TimelineWindow window;
    window.skip = left > 1 ? 1 : 0;
    window.count = std::min(steps, left - window.skip);
    window.micro_batches = train.gradient_accumulation_steps;
    return window;
}

}  // namespace

void add_watch_options(CLI::App* app, TrainWatchOptions& options) {
    app->add_flag("--profile", options.profile,
                  "Print at the end how long each op took, and how near the peak it came");
    CLI::Option* trace = app->add_option("--trace", options.trace,
                                         "Write what ran when on which thread, for https://ui.perfetto.dev or "
                                         "chrome://tracing")
                             ->type_name("FILE");
    app->add_option("--trace-steps", options.trace_steps, "Training steps in it, the first one left out")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(1, 1000))
        ->capture_default_str()
        ->needs(trace);
}

TrainWatch::TrainWatch(train::Trainer& trainer, const TrainWatchOptions& options)
    : trainer_(trainer), options_(options) {
    if (options.profile) profile_.emplace(trainer.runtime());
    if (!options.trace.empty()) timeline_.emplace(trainer.runtime(), window_of(trainer, options.trace_steps));
}

void TrainWatch::after_step(const train::Progress& progress) {
    if (profile_) {
        profile_->add_step(progress.step.seconds);
        if (progress.validation) profile_->add_evaluation(progress.validation->seconds);
    }
    if (timeline_ && timeline_->complete()) write_trace();
}

std::string TrainWatch::finish(const train::RunResult& result) {
    if (timeline_) write_trace();
    return profile_ ? profile_->text(result.seconds, measure_machine(trainer_.threads())) : "";
}

/// And ends the recording.
void TrainWatch::write_trace() {
    write_text_atomically(options_.trace, timeline_->json());
    timeline_.reset();
}

}  // namespace causeway::cli
