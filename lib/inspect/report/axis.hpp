#pragma once

#include <string>
#include <vector>

namespace causeway::report {

struct Tick {
    double value;
    std::string label;
};

/// The values along one side of a chart, evenly or by their logarithm.
class Axis {
  public:
    /// From low to high, widened a little to round values; a range without extent is widened so that it has one.
    static Axis linear(double low, double high);
    /// Both above 0.
    static Axis logarithmic(double low, double high);
    /// Exactly from low to high, for steps and time.
    static Axis exact(double low, double high);

    /// Where a value lies: 0 at the low end, 1 at the high one; values outside are moved to the ends.
    double at(double value) const;
    bool is_logarithmic() const { return logarithmic_; }
    /// About `wanted` round values with labels such as "20 k" or "1.5e-4". Each is divided by `unit` for its label,
    /// and they are at least `least` units apart.
    std::vector<Tick> ticks(int wanted, double unit = 1, double least = 0) const;

  private:
    Axis(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {}
    std::vector<Tick> linear_ticks(int wanted, double unit, double least) const;
    std::vector<Tick> logarithmic_ticks() const;

    double low_, high_;
    bool logarithmic_;
};

/// "0.25", "1,200", "35 k", "1.2 M", "3e-4": a figure to `digits` significant digits, without trailing zeros.
std::string figure_text(double value, int digits = 4);

}  // namespace causeway::report
