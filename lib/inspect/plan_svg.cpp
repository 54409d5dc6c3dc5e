#include <algorithm>
#include <map>

#include "base/format.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/plan_view.hpp"
#include "inspect/svg.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

constexpr double margin = 28, width = 1240, header_height = 96, map_height = 430, axis_width = 74, row_height = 16;
constexpr std::string_view muted = "#62707d", rule = "#dde3e9";

/// A stretch of scratch memory with its owner.
struct Rectangle {
    std::string name, op;
    std::int64_t offset, bytes;
    std::int32_t first_group, last_group;
    bool workspace;
};

/// As much of a text as fits so many pixels at this size of type, cut between two characters of its UTF-8.
std::string fitting(const std::string& text, double pixels, double size) {
    const auto most = static_cast<std::size_t>(std::max(0.0, pixels / (size * 0.62)));
    if (text.size() <= most) return text;
    if (most < 9) return "";
    std::size_t cut = most - 2;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
    return text.substr(0, cut) + "..";
}

class PlanDrawing {
  public:
    explicit PlanDrawing(const PlanView& view)
        : view_(view), plan_(view.plan()), summary_(summarize(plan_)), svg_(width, height(), "plan " + plan_.mode) {
        for (const PlannedNode& node : plan_.nodes) colours_.try_emplace(node.op, palette_colour(colours_.size()));
    }

    std::string draw() && {
        header();
        memory_map(header_height + 34);
        step_list(header_height + 34 + map_height + 66);
        return svg_.str();
    }

  private:
    double height() const {
        return header_height + 34 + map_height + 66 + 30 + row_height * static_cast<double>(plan_.steps.size()) +
               margin;
    }

    void header() {
        const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
        svg_.heading(margin, 38,
                     fmt::format("Plan: {}, {}, {} kernels", plan_.mode, to_string(plan_.dtype), to_string(plan_.isa)),
                     20);
        const auto& s = summary_;
        svg_.text(margin, 62,
                  fmt::format("{} parameters  ·  {} steps in {} groups, {} parallel  ·  {}FLOPs a run of {} tokens, "
                              "{}FLOPs a token",
                              count_text(s.parameters), s.steps, s.groups, s.parallel_groups,
                              spaced(quantity_text(s.flops_step)), count_text(s.tokens),
                              spaced(quantity_text(s.flops_per_token))),
                  12.5);
        svg_.text(
            margin, 82,
            fmt::format(
                "memory {}: parameters {}, packed weights {}, gradients {}, moments {}, KV cache {}, scratch {} ({} "
                "without reuse)",
                bytes(s.total_bytes), bytes(s.parameter_bytes), bytes(s.packed_bytes), bytes(s.gradient_bytes),
                bytes(s.moment_bytes), bytes(s.cache_bytes), bytes(s.scratch_bytes), bytes(s.scratch_without_reuse)),
            12.5);
    }
    /// "12.3 M" -> "12.3 M", "850" -> "850 ": a unit follows.
    static std::string spaced(const std::string& quantity) {
        return quantity.find(' ') == std::string::npos ? quantity + " " : quantity;
    }

    std::vector<Rectangle> rectangles() const {
        std::map<std::int32_t, std::string> op_of;  // value -> the op that makes it
        for (const PlannedNode& node : plan_.nodes) {
            for (std::int32_t output : node.outputs) op_of[output] = node.op;
        }
        std::vector<Rectangle> found;
        for (std::size_t i = 0; i < plan_.values.size(); ++i) {
            const PlannedValue& value = plan_.values[i];
            const auto index = static_cast<std::int32_t>(i);
            if (!value.place || value.place.region != Region::scratch || value.storage != index) continue;
            found.push_back({value.name, op_of.contains(index) ? op_of[index] : "", value.place.offset,
                             value.desc.bytes(), value.first_group, value.last_group, false});
        }
        for (const PlannedNode& node : plan_.nodes) {
            if (node.workspace_bytes == 0) continue;
            found.push_back({node.name, node.op, node.workspace.offset, node.workspace_bytes, node.first_group,
                             node.last_group, true});
        }
        return found;
    }

    void memory_map(double top) {
        svg_.heading(margin, top, "Scratch memory");
        svg_.text(margin + 146, top,
                  "step groups run from left to right; a buffer is a box as wide as it lives, as high "
                  "as it is big; hatched boxes are workspaces",
                  11, muted);
        const double y0 = top + 14, x0 = margin + axis_width, w = width - margin - x0, h = map_height;
        const double peak = static_cast<double>(std::max<std::int64_t>(summary_.scratch_bytes, 1));
        const double groups = static_cast<double>(std::max<std::size_t>(plan_.groups.size(), 1));
        for (int tick = 0; tick <= 4; ++tick) {
            const double y = y0 + h - h * tick / 4;
            svg_.line(x0, y, x0 + w, y, rule);
            svg_.text(x0 - 8, y + 4, bytes_text(peak * tick / 4), 10, muted, Svg::Anchor::end);
        }
        for (const Rectangle& r : rectangles()) {
            const double x = x0 + w * r.first_group / groups, right = x0 + w * (r.last_group + 1) / groups;
            const double bottom = y0 + h - h * static_cast<double>(r.offset) / peak;
            const double tall = std::max(0.75, h * static_cast<double>(r.bytes) / peak);
            const std::string tooltip =
                fmt::format("{}{}\n{}{}, offset {}, groups {} to {}", r.name, r.workspace ? " (workspace)" : "",
                            r.op.empty() ? "" : r.op + ", ", bytes_text(static_cast<double>(r.bytes)), r.offset,
                            r.first_group, r.last_group);
            box(x, bottom - tall, right - x, tall, r, tooltip);
        }
        phase_axis(x0, y0 + h, w, groups);
    }

    void box(double x, double y, double w, double h, const Rectangle& r, const std::string& tooltip) {
        const std::string_view colour = r.op.empty() ? "#c9d1d9" : colours_.at(r.op);
        svg_.rect(x, y, w, h, colour, tooltip, "#ffffff");
        if (r.workspace) {
            for (double at = 6; at < w + h; at += 6) {  // hatching, clipped by hand
                svg_.line(x + std::max(0.0, at - h), y + std::min(at, h), x + std::min(at, w),
                          y + std::max(0.0, at - w), "#ffffff");
            }
        }
        const double size = 9.5;
        const std::string label = h > 11 ? fitting(r.name, w - 8, size) : "";
        if (!label.empty()) svg_.text(x + 3, y + h / 2 + 3.4, label, size, "#10202e");
    }

    void phase_axis(double x0, double y, double w, double groups) {
        svg_.line(x0, y, x0 + w, y, muted);
        for (Phase phase : all_phases) {
            const PhaseRange& range = plan_.range(phase);
            if (range.group_count == 0) continue;
            const double from = x0 + w * range.first_group / groups;
            const double to = x0 + w * (range.first_group + range.group_count) / groups;
            svg_.line(from, y, from, y + 8, muted);
            svg_.line(to, y, to, y + 8, muted);
            const std::string groups_text = fmt::format("{}: groups {}..{}", to_string(phase), range.first_group,
                                                        range.first_group + range.group_count - 1);
            const bool roomy = fitting(groups_text, to - from, 10) == groups_text;
            svg_.text((from + to) / 2, y + 18, roomy ? groups_text : std::string(to_string(phase)), 10, muted,
                      Svg::Anchor::middle);
        }
    }

    void step_list(double top) {
        svg_.heading(margin, top, "Steps");
        svg_.text(margin + 58, top,
                  "bars: predicted time on one core; a filled square marks a group that runs on all cores", 11, muted);
        constexpr double op_x = 100, name_x = 282, shapes_x = 560, flops_x = 985, bar_x = 1000;
        double longest = 1e-12;
        for (const Step& step : plan_.steps) longest = std::max(longest, step.predicted_seconds);
        double y = top + 24;
        for (std::size_t i = 0; i < plan_.steps.size(); ++i, y += row_height) {
            const Step& step = plan_.steps[i];
            const PlannedNode& node = view_.node_of(step);
            const std::int32_t group = view_.group_of_step(i);
            if (group % 2 == 0) svg_.rect(margin - 6, y - 11.5, width - 2 * margin + 12, row_height, "#f5f7f9");
            svg_.text(margin + 24, y, fmt::format("{}", i), 10, muted, Svg::Anchor::end);
            const bool parallel = plan_.groups[static_cast<std::size_t>(group)].parallel;
            svg_.rect(margin + 36, y - 7, 7, 7, parallel ? "#10202e" : "#ffffff",
                      fmt::format("group {}, {}", group, parallel ? "parallel" : "serial"), "#10202e");
            svg_.rect(op_x - 16, y - 9, 11, 11, colours_.at(step.op));
            svg_.text(op_x, y, fitting(step.op, name_x - op_x - 4, 10.5), 10.5);
            svg_.text(name_x, y, fitting(step.name, shapes_x - name_x - 8, 10.5), 10.5);
            const std::string shapes = view_.shapes(node.inputs) + " → " + view_.shapes(node.outputs);
            svg_.text(shapes_x, y, fitting(shapes, flops_x - shapes_x - 40, 9.5), 9.5, muted);
            svg_.text(flops_x, y, quantity_text(step.flops), 10, muted, Svg::Anchor::end);
            const double bar = (width - margin - bar_x - 62) * step.predicted_seconds / longest;
            svg_.rect(bar_x, y - 8.5, std::max(0.5, bar), 9, colours_.at(step.op));
            svg_.text(bar_x + std::max(0.5, bar) + 5, y, seconds_text(step.predicted_seconds), 9.5, muted);
        }
    }

    const PlanView& view_;
    const ExecutionPlan& plan_;
    PlanSummary summary_;
    Svg svg_;
    std::map<std::string, std::string_view> colours_;  ///< by op
};

}  // namespace

std::string plan_svg(const ExecutionPlan& plan) {
    const PlanView view(plan);
    return PlanDrawing(view).draw();
}

}  // namespace causeway
