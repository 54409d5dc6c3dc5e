#include "inspect/run_timeline.hpp"

#include "inspect/timeline_json.hpp"

namespace causeway {

std::size_t RunTimeline::memory_bytes(ModelRuntime& runtime, const TimelineWindow& window) {
    return TimelineRecorder::memory_bytes(runtime.plan("train"), runtime.pool().threads(), window);
}

RunTimeline::RunTimeline(ModelRuntime& runtime, const TimelineWindow& window)
    : executor_(runtime.executor("train")), recorder_(executor_.plan(), runtime.pool().threads(), window) {
    executor_.observe(recorder_);
}

RunTimeline::~RunTimeline() { executor_.stop_observing(recorder_); }

std::string RunTimeline::json() const { return timeline_json(recorder_); }

}  // namespace causeway
