#include "inspect/run_profile.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "inspect/profile_table.hpp"
#include "inspect/units.hpp"

namespace causeway {

RunProfile::RunProfile(ModelRuntime& runtime)
    : executor_(runtime.executor("train")), threads_(runtime.pool().threads()), profiler_(executor_.plan()) {
    executor_.observe(profiler_);
}

RunProfile::~RunProfile() { executor_.stop_observing(profiler_); }

void RunProfile::add_step(double seconds) {
    ++steps_;
    step_seconds_ += seconds;
}

void RunProfile::add_evaluation(double seconds) {
    ++evaluations_;
    evaluation_seconds_ += seconds;
}

void RunProfile::add_trace(double seconds) {
    traced_ = true;
    trace_seconds_ += seconds;
}

std::string RunProfile::text(double run_seconds, const MachinePeaks& peaks) const {
    const Isa isa = executor_.plan().isa;
    const ProfileBounds bounds{peaks.flops_per_second(isa, threads_), peaks.dram_bytes_per_second_all_threads};
    const double mean = steps_ > 0 ? step_seconds_ / static_cast<double>(steps_) : 0;
    std::string text = fmt::format("profile of {} training step{} on {} thread{}: {}, {} each\n", count_text(steps_),
                                   steps_ == 1 ? "" : "s", threads_, threads_ == 1 ? "" : "s",
                                   seconds_text(step_seconds_), seconds_text(mean));
    text += fmt::format("peaks measured: {}FLOP/s ({}), reading memory {:.1f} GB/s; what caches held can be faster\n\n",
                        bounds.flops_per_second > 0 ? quantity_text(bounds.flops_per_second) : "unknown ",
                        to_string(isa), bounds.bytes_per_second / 1e9);
    text += profile_text(profiler_.rows(), bounds, std::max(0.0, step_seconds_ - profiler_.seconds()));
    text += fmt::format("\nevaluation             {} in {} pass{}\n", seconds_text(evaluation_seconds_), evaluations_,
                        evaluations_ == 1 ? "" : "es");
    if (traced_) text += fmt::format("writing the trace      {}\n", seconds_text(trace_seconds_));
    const double rest = run_seconds - step_seconds_ - evaluation_seconds_ - trace_seconds_;
    text += fmt::format("metrics and progress   {}\n", seconds_text(std::max(0.0, rest)));
    return text;
}

}  // namespace causeway
