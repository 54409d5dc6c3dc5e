#include "inspect/timeline_json.hpp"

#include <nlohmann/json.hpp>

#include "base/format.hpp"

namespace causeway {
namespace {

using Json = nlohmann::ordered_json;
using Time = ExecutionClock::time_point;

class TimelineWriter {
  public:
    explicit TimelineWriter(const TimelineRecorder& recorder) : recorder_(recorder), plan_(recorder.plan()) {
        if (!recorder.runs().empty()) start_ = recorder.runs().front().begin;
    }

    std::string write() && {
        Json process = metadata("process_name", 0);
        process["args"]["name"] = fmt::format("causeway, plan {}", plan_.mode);
        line(process);
        for (int thread = 0; thread < recorder_.threads(); ++thread) name_thread(thread);
        training_steps();
        for (const TimelineRecorder::Run& run : recorder_.runs()) phase(run);
        for (const TimelineRecorder::Span& span : recorder_.groups()) group(span);
        for (int thread = 0; thread < recorder_.threads(); ++thread) {
            for (const TimelineRecorder::Span& span : recorder_.tiles(thread)) tiles(span, thread);
        }
        return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + lines_ + "\n]}\n";
    }

  private:
    void line(const Json& event) {
        if (!lines_.empty()) lines_ += ",\n";
        lines_ += event.dump();
    }

    static Json metadata(const char* what, int thread) {
        return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", thread}};
    }

    void name_thread(int thread) {
        Json name = metadata("thread_name", thread);
        name["args"]["name"] =
            fmt::format("thread {}{}", thread, thread == recorder_.caller() ? ", runs the plan" : "");
        line(name);
        Json order = metadata("thread_sort_index", thread);
        order["args"]["sort_index"] = thread;
        line(order);
    }

    double microseconds(Time begin, Time end) const {
        return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count()) / 1000;
    }

    void event(const std::string& name, const char* category, int thread, Time begin, Time end, Json arguments) {
        line({{"name", name},
              {"cat", category},
              {"ph", "X"},
              {"pid", 1},
              {"tid", thread},
              {"ts", microseconds(start_, begin)},
              {"dur", microseconds(begin, end)},
              {"args", std::move(arguments)}});
    }

    /// From the first run of a training step to the end of its last.
    void training_steps() {
        const auto runs = recorder_.runs();
        for (std::size_t first = 0, next = 0; first < runs.size(); first = next) {
            while (next < runs.size() && runs[next].training_step == runs[first].training_step) ++next;
            event(fmt::format("training step {}", runs[first].training_step), "training step", recorder_.caller(),
                  runs[first].begin, runs[next - 1].end, Json::object());
        }
    }

    void phase(const TimelineRecorder::Run& run) {
        event(std::string(to_string(run.phase)), "phase", recorder_.caller(), run.begin, run.end,
              {{"training_step", run.training_step}, {"flops", plan_.flops(run.phase)}});
    }

    void group(const TimelineRecorder::Span& span) {
        const StepGroup& group = plan_.groups[static_cast<std::size_t>(span.index)];
        event(fmt::format("group {}", span.index), "group", recorder_.caller(), span.begin, span.end,
              {{"steps", group.step_count},
               {"tiles", group.tiles},
               {"run", group.parallel ? "parallel" : "serial"},
               {"predicted_us_on_one_core", 1e6 * group.predicted_seconds}});
    }

    void tiles(const TimelineRecorder::Span& span, int thread) {
        const Step& step = plan_.steps[static_cast<std::size_t>(span.index)];
        const TimelineRecorder::Span& of = recorder_.groups()[static_cast<std::size_t>(span.group_run - 1)];
        const double part = static_cast<double>(span.tiles) / static_cast<double>(step.tiles);
        event(step.name, "step", thread, span.begin, span.end,
              {{"op", step.op},
               {"group", of.index},
               {"tiles", span.tiles},
               {"tiles_in_all", step.tiles},
               {"flops", part * step.flops},
               {"bytes", part * step.bytes}});
    }

    const TimelineRecorder& recorder_;
    const ExecutionPlan& plan_;
    Time start_;
    std::string lines_;
};

}  // namespace

std::string timeline_json(const TimelineRecorder& recorder) { return TimelineWriter(recorder).write(); }

}  // namespace causeway
