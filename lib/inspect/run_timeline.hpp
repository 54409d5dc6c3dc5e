#pragma once

#include <cstddef>
#include <string>

#include "exec/model_runtime.hpp"
#include "exec/timeline_recorder.hpp"

namespace causeway {

/// Records the plan "train" of a model over a window of training steps while it lives.
class RunTimeline {
  public:
    /// What recording that window takes. Throws GraphError when the runtime has no plan "train".
    static std::size_t memory_bytes(ModelRuntime& runtime, const TimelineWindow& window);

    /// The runtime must outlive the timeline. Throws GraphError when it has no plan "train".
    RunTimeline(ModelRuntime& runtime, const TimelineWindow& window);
    ~RunTimeline();
    RunTimeline(const RunTimeline&) = delete;
    RunTimeline& operator=(const RunTimeline&) = delete;

    /// Between two training steps: true when the window is over.
    bool complete() const { return recorder_.complete(); }
    /// What was recorded until now; see timeline_json.
    std::string json() const;

  private:
    Executor& executor_;
    TimelineRecorder recorder_;
};

}  // namespace causeway
