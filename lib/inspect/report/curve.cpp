#include "inspect/report/curve.hpp"

#include <algorithm>

#include "base/ceil_div.hpp"

namespace causeway::report {
namespace {

void join(Point& into, const Point& other) {
    const auto a = static_cast<double>(into.count), b = static_cast<double>(other.count), sum = a + b;
    into.step = (into.step * a + other.step * b) / sum;
    into.seconds = (into.seconds * a + other.seconds * b) / sum;
    into.mean = (into.mean * a + other.mean * b) / sum;
    into.low = std::min(into.low, other.low);
    into.high = std::max(into.high, other.high);
    into.count += other.count;
}

std::vector<Point> joined(const std::vector<Point>& points, std::size_t group) {
    std::vector<Point> result;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i % group == 0) {
            result.push_back(points[i]);
        } else {
            join(result.back(), points[i]);
        }
    }
    return result;
}

}  // namespace

void Curve::add(double step, double seconds, double value) {
    const Point point{step, seconds, value, value, value, 1};
    if (!points_.empty() && points_.back().count < width_) return join(points_.back(), point);
    if (points_.size() == capacity) {
        points_ = joined(points_, 2);
        width_ *= 2;
    }
    points_.push_back(point);
}

std::vector<Point> Curve::points(std::size_t most) const {
    return joined(points_, std::max<std::size_t>(1, ceil_div(points_.size(), most)));
}

std::vector<Point> smoothed(const std::vector<Point>& points, std::size_t reach) {
    std::vector<Point> result = points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        // The same reach on both sides, so that the ends are not drawn towards the middle.
        const std::size_t near = std::min({reach, i, points.size() - 1 - i});
        double sum = 0, weight = 0;
        for (std::size_t k = i - near; k <= i + near; ++k) {
            sum += points[k].mean * static_cast<double>(points[k].count);
            weight += static_cast<double>(points[k].count);
        }
        result[i].mean = sum / weight;
    }
    return result;
}

}  // namespace causeway::report
