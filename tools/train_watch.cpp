#include "train_watch.hpp"

#include <algorithm>
#include <new>

#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "inspect/machine.hpp"
#include "inspect/units.hpp"
#include "io/atomic_file.hpp"

namespace causeway::cli {
namespace {

/// The first step is left out, unless there is no other.
TimelineWindow window_of(const train::Trainer& trainer, std::int64_t steps) {
    const TrainConfig& train = trainer.config().train;
    const std::int64_t left = trainer.step_limit().steps.value_or(steps + 1) - trainer.steps_done();
    TimelineWindow window;
    window.skip = left > 1 ? 1 : 0;
    window.count = std::min(steps, left - window.skip);
    window.micro_batches = train.gradient_accumulation_steps;
    return window;
}

std::string check_name(const std::string& file) { return file.empty() ? "is empty, expected a file to write" : ""; }

}  // namespace

void add_watch_options(CLI::App* app, TrainWatchOptions& options) {
    app->add_flag("--profile", options.profile,
                  "Print at the end how long each op took, and how near the peak it came");
    CLI::Option* trace = app->add_option("--trace", options.trace,
                                         "Write what ran when on which thread, for https://ui.perfetto.dev or "
                                         "chrome://tracing")
                             ->type_name("FILE")
                             ->check(CLI::Validator(check_name, ""));
    app->add_option("--trace-steps", options.trace_steps, "Training steps in it, the first one left out")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(1, 1000))
        ->capture_default_str()
        ->needs(trace);
}

std::size_t check_watch_memory(train::Trainer& trainer, const TrainWatchOptions& options, std::size_t taken,
                               std::size_t available) {
    if (options.trace.empty()) return 0;
    const std::size_t needed = RunTimeline::memory_bytes(trainer.runtime(), window_of(trainer, options.trace_steps));
    const std::size_t limit = trainer.config().runtime.memory_limit_bytes();
    const std::size_t most = limit > 0 ? limit : available;
    if (taken <= most && needed <= most - taken) return needed;
    throw CapacityError(fmt::format(
        "--trace-steps {}: recording them takes {} beside {} for the model, expected at most "
        "{} in all ({}); fewer steps take less",
        options.trace_steps, bytes_text(static_cast<double>(needed)), bytes_text(static_cast<double>(taken)),
        bytes_text(static_cast<double>(most)), limit > 0 ? "runtime.memory_limit_mb" : "the memory available"));
}

TrainWatch::TrainWatch(train::Trainer& trainer, const TrainWatchOptions& options)
    : trainer_(trainer), options_(options) {
    if (options.profile) profile_.emplace(trainer.runtime());
    if (!options.trace.empty()) timeline_.emplace(trainer.runtime(), window_of(trainer, options.trace_steps));
}

std::string TrainWatch::after_step(const train::Progress& progress) {
    if (profile_) {
        profile_->add_step(progress.step.seconds);
        if (progress.validation) profile_->add_evaluation(progress.validation->seconds);
    }
    return timeline_ && timeline_->complete() ? write_trace() : "";
}

std::string TrainWatch::after_run() {
    if (!timeline_) return "";
    const Stopwatch watch;
    std::string trouble = write_trace();
    seconds_after_run_ = watch.seconds();
    return trouble;
}

std::string TrainWatch::profile(double run_seconds) const {
    return profile_ ? profile_->text(run_seconds + seconds_after_run_, measure_machine(trainer_.threads())) : "";
}

/// And ends the recording.
std::string TrainWatch::write_trace() {
    const Stopwatch watch;
    std::string trouble;
    try {
        write_text_atomically(options_.trace, timeline_->json());
    } catch (const Error& error) {
        trouble = fmt::format("--trace: {}", error.what());
    } catch (const std::bad_alloc&) {
        trouble = fmt::format("--trace: {}: out of memory", options_.trace);
    }
    timeline_.reset();
    failed_ = failed_ || !trouble.empty();
    if (profile_) profile_->add_trace(watch.seconds());
    return trouble;
}

}  // namespace causeway::cli
