#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace causeway::report {

/// What a figure was over one step, or over several that follow each other.
struct Point {
    double step = 0;     ///< mean of those in it
    double seconds = 0;  ///< since the run began, mean
    double mean = 0, low = 0, high = 0;
    std::int64_t count = 0;  ///< steps in it
};

/// One figure of a run (its loss, its gradient norm) over the steps, in bounded memory: from `capacity` points on,
/// neighbours are joined in pairs, so that extremes stay visible however long the run is.
class Curve {
  public:
    static constexpr std::size_t capacity = 4096;

    /// In the order of steps; the value is finite. O(1) on average.
    void add(double step, double seconds, double value);
    bool empty() const { return points_.empty(); }
    const Point& last() const { return points_.back(); }

    /// At most `most` points, joined from neighbours in equal numbers.
    std::vector<Point> points(std::size_t most) const;

  private:
    std::vector<Point> points_;
    std::int64_t width_ = 1;  ///< steps a point takes
};

/// The running mean of points over `reach` neighbours on either side, weighted by their steps; low and high stay.
std::vector<Point> smoothed(const std::vector<Point>& points, std::size_t reach);

}  // namespace causeway::report
