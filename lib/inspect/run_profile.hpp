#pragma once

#include <cstdint>
#include <string>

#include "exec/machine_peaks.hpp"
#include "exec/model_runtime.hpp"
#include "exec/profiler.hpp"

namespace causeway {

/// Measures where the time of a training run goes: each op of the plan "train" while it lives, and what it is told of
/// the rest.
class RunProfile {
  public:
    /// The runtime must outlive the profile. Throws GraphError when it has no plan "train".
    explicit RunProfile(ModelRuntime& runtime);
    ~RunProfile();
    RunProfile(const RunProfile&) = delete;
    RunProfile& operator=(const RunProfile&) = delete;

    /// A whole training step has taken that long, its batches drawn and all phases of its plan run.
    void add_step(double seconds);
    void add_evaluation(double seconds);
    /// A trace of the run has been written.
    void add_trace(double seconds);

    /// The table of profile_text, and lines for what is not in it: evaluation, the trace if one was written, metrics.
    /// `run_seconds` is all that the run has taken.
    std::string text(double run_seconds, const MachinePeaks& peaks) const;

  private:
    Executor& executor_;
    int threads_;
    Profiler profiler_;
    std::int64_t steps_ = 0, evaluations_ = 0;
    double step_seconds_ = 0, evaluation_seconds_ = 0, trace_seconds_ = 0;
    bool traced_ = false;
};

}  // namespace causeway
