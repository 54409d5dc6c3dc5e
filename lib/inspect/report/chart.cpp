#include "inspect/report/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/format.hpp"
#include "inspect/report/axis.hpp"
#include "inspect/report/html.hpp"

namespace causeway::report {
namespace {

// The plot in its picture, in units of the view box.
constexpr double width = 480, height = 250, left = 58, right = 458, top = 12, bottom = 212;
constexpr std::size_t most_points = 300;

/// A series with what is drawn of it.
struct Drawn {
    const Series* series;
    std::vector<Point> points;
};

/// Where the pictures' two ways to count along the steps differ.
struct Along {
    const char* name;  ///< class of what belongs to it
    double (*of)(const Point&);
    Axis axis;
    double x(const Point& point) const { return left + axis.at(of(point)) * (right - left); }
};

double step_of(const Point& point) { return point.step; }
double seconds_of(const Point& point) { return point.seconds; }

std::vector<Drawn> prepared(std::span<const Series> series) {
    std::vector<Drawn> drawn;
    for (const Series& one : series) {
        if (one.curve == nullptr || one.curve->empty()) continue;
        std::vector<Point> points = one.curve->points(most_points);
        if (one.smooth) points = smoothed(points, points.size() / 50);
        drawn.push_back({&one, std::move(points)});
    }
    return drawn;
}

/// Of steps and time; a single point gets some room.
Along along(const char* name, double (*of)(const Point&), const std::vector<Drawn>& drawn) {
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (const Drawn& one : drawn) {
        low = std::min(low, of(one.points.front()));
        high = std::max(high, of(one.points.back()));
    }
    return {name, of, high > low ? Axis::exact(low, high) : Axis::exact(low - 1, high + 1)};
}

Axis upwards(const ChartSpec& spec, const std::vector<Drawn>& drawn) {
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    double positive = std::numeric_limits<double>::max();
    const auto take = [&](double from, double to) {
        low = std::min(low, from);
        high = std::max(high, to);
        if (from > 0) positive = std::min(positive, from);
    };
    for (const Drawn& one : drawn) {
        for (const Point& point : one.points) take(point.low, point.high);
    }
    // A limit far away from the values would flatten them.
    if (spec.reference && *spec.reference <= 3 * high && *spec.reference >= low / 3) {
        take(*spec.reference, *spec.reference);
    }
    if (spec.may_be_logarithmic && positive < high && high / positive > 20) return Axis::logarithmic(positive, high);
    return Axis::linear(low, high);
}

double y_of(const Axis& axis, double value) { return bottom - axis.at(value) * (bottom - top); }

std::string label(double x, double y, const char* anchor, std::string_view text, std::string_view more = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor, more,
                       html_text(text));
}

std::string y_axis(const Axis& axis, std::string_view unit) {
    std::string out = "<g class=\"grid\">";
    for (const Tick& tick : axis.ticks(5)) {
        const double y = y_of(axis, tick.value);
        out += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", left, right, y);
        out += label(left - 6, y + 4, "end", tick.label);
    }
    const double middle = (top + bottom) / 2;
    out += label(12, middle, "middle", std::string(unit) + (axis.is_logarithmic() ? " (log)" : ""),
                 fmt::format(" transform=\"rotate(-90 12 {:.1f})\" class=\"unit\"", middle));
    return out + "</g>";
}

/// Ticks and name of one axis below; values along are divided by `unit`.
std::string x_axis(const Axis& axis, std::string_view axis_class, std::string_view name, double unit,
                   double least = 0) {
    std::string out = fmt::format("<g class=\"grid {}\">", axis_class);
    for (const Tick& tick : axis.ticks(5, unit, least)) {
        const double x = left + axis.at(tick.value) * (right - left);
        out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, bottom, bottom + 4);
        out += label(x, bottom + 18, "middle", tick.label);
    }
    return out + label((left + right) / 2, height - 4, "middle", name, " class=\"unit\"") + "</g>";
}

struct TimeUnit {
    double seconds;
    const char* name;
};

TimeUnit time_unit(double seconds) {
    if (seconds < 180) return {1, "seconds"};
    return seconds < 3 * 3600 ? TimeUnit{60, "minutes"} : TimeUnit{3600, "hours"};
}

std::string x_axes(const std::array<Along, 2>& ways, const std::vector<Drawn>& drawn, double tokens_per_step) {
    double end = 0;
    for (const Drawn& one : drawn) end = std::max(end, one.points.back().seconds);
    const TimeUnit unit = time_unit(end);
    std::string out = x_axis(ways[0].axis, "x-step", "step", 1, 1);
    if (tokens_per_step > 0) out += x_axis(ways[0].axis, "x-tokens", "tokens", 1 / tokens_per_step);
    return out + x_axis(ways[1].axis, "x-time", unit.name, unit.seconds);
}

std::string band(const std::vector<Point>& points, const Along& way, const Axis& axis) {
    std::string path;
    for (const Point& point : points) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", way.x(point), y_of(axis, point.high));
    }
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        path += fmt::format("L{:.1f} {:.1f}", way.x(*point), y_of(axis, point->low));
    }
    return path + "Z";
}

std::string line(const std::vector<Point>& points, const Along& way, const Axis& axis) {
    std::string path;
    for (const Point& point : points) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", way.x(point), y_of(axis, point.mean));
    }
    return path;
}

std::string dots(const std::vector<Point>& points, const Along& way, const Axis& axis, int colour) {
    std::string out;
    for (const Point& point : points) {
        out += fmt::format("<circle class=\"d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", colour, way.x(point),
                           y_of(axis, point.mean));
    }
    return out;
}

std::string drawing(const Drawn& one, const Along& way, const Axis& axis) {
    const bool has_band = std::ranges::any_of(one.points, [](const Point& p) { return p.high > p.low; });
    const bool noisy = one.series->smooth && one.points.size() > 2;
    std::string out;
    if (has_band) out += fmt::format("<path class=\"b{}\" d=\"{}\"/>", one.series->colour, band(one.points, way, axis));
    if (noisy && !has_band) {  // a point is a step: low is its value
        std::vector<Point> raw = one.points;
        for (Point& point : raw) point.mean = point.low;
        out += fmt::format("<path class=\"r{}\" d=\"{}\"/>", one.series->colour, line(raw, way, axis));
    }
    out += fmt::format("<path class=\"l{}\" d=\"{}\"/>", one.series->colour, line(one.points, way, axis));
    if (one.points.size() == 1 || (one.series->dots && one.points.size() <= 100)) {
        out += dots(one.points, way, axis, one.series->colour);
    }
    return out;
}

std::string marks(const ChartSpec& spec, const Along& steps) {
    std::string out;
    for (const std::int64_t step : spec.marked_steps) {
        const double x = steps.x({.step = static_cast<double>(step)});
        out += fmt::format("<path class=\"mark\" d=\"M{:.1f} {}l-4 7h8z\"><title>step {}: {}</title></path>", x,
                           bottom - 7, step, html_text(spec.mark_name));
    }
    return out.empty() ? out : "<g class=\"by-step\">" + out + "</g>";
}

bool shows_reference(const ChartSpec& spec, const Axis& axis) {
    return spec.reference && axis.at(*spec.reference) > 0 && axis.at(*spec.reference) < 1;
}

std::string reference(const ChartSpec& spec, const Axis& axis) {
    if (!shows_reference(spec, axis)) return "";
    return fmt::format(
        "<line class=\"reference\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"><title>{3}</title></line>", left,
        right, y_of(axis, *spec.reference), html_text(spec.reference_name));
}

std::string legend(const ChartSpec& spec, const std::vector<Drawn>& drawn, const Axis& axis) {
    std::string out = "<figcaption>";
    for (const Drawn& one : drawn) {
        out += fmt::format("<span><i class=\"k{}\"></i>{}</span>", one.series->colour, html_text(one.series->name));
    }
    if (shows_reference(spec, axis)) {
        out += fmt::format("<span><i class=\"dash\"></i>{}</span>", html_text(spec.reference_name));
    }
    if (!spec.marked_steps.empty()) {
        out += fmt::format("<span><i class=\"flag\">&#9650;</i>{}</span>", html_text(spec.mark_name));
    }
    return out + "</figcaption>";
}

/// For the script: a series a row, its points as [x by step, x by time, y, step, seconds, mean, low, high].
std::string values(const std::vector<Drawn>& drawn, const std::array<Along, 2>& ways, const Axis& axis) {
    std::string out = "<script type=\"application/json\">[";
    for (const Drawn& one : drawn) {
        out += fmt::format("{}{{\"name\":\"{}\",\"points\":[", out.ends_with('[') ? "" : ",", one.series->name);
        for (const Point& p : one.points) {
            out += fmt::format("{}[{:.1f},{:.1f},{:.1f},{:.7g},{:.6g},{:.6g},{:.6g},{:.6g}]",
                               &p == one.points.data() ? "" : ",", ways[0].x(p), ways[1].x(p), y_of(axis, p.mean),
                               p.step, p.seconds, p.mean, p.low, p.high);
        }
        out += "]}";
    }
    return out + "]</script>";
}

}  // namespace

std::string chart(const ChartSpec& spec, std::span<const Series> series, double tokens_per_step) {
    const std::vector<Drawn> drawn = prepared(series);
    std::string out = fmt::format("<figure class=\"chart\"><h3>{}</h3>", html_text(spec.title));
    if (drawn.empty()) return out + "<p class=\"none\">No values yet.</p></figure>\n";
    const std::array<Along, 2> ways{along("by-step", step_of, drawn), along("by-time", seconds_of, drawn)};
    const Axis axis = upwards(spec, drawn);
    out +=
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", width, height, html_text(spec.title));
    out += y_axis(axis, spec.unit) + x_axes(ways, drawn, tokens_per_step) + reference(spec, axis);
    for (const Along& way : ways) {
        out += fmt::format("<g class=\"{}\">", way.name);
        for (const Drawn& one : drawn) out += drawing(one, way, axis);
        out += "</g>";
    }
    out += marks(spec, ways[0]) + "</svg>" + legend(spec, drawn, axis) + values(drawn, ways, axis);
    return out + "</figure>\n";
}

}  // namespace causeway::report
