#include "train/metrics.hpp"

#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "base/format.hpp"

namespace causeway::train {
namespace {

/// Builds the object in a text that may have room already.
class Line {
  public:
    explicit Line(std::string& text) : text_(text) { text_.clear(); }
    void integer(const char* name, std::int64_t value) { fmt::format_to(next(), "\"{}\":{}", name, value); }
    /// JSON has no NaN or infinity: they become null.
    void number(const char* name, double value) {
        if (std::isfinite(value)) {
            fmt::format_to(next(), "\"{}\":{}", name, value);
        } else {
            fmt::format_to(next(), "\"{}\":null", name);
        }
    }
    /// Rows of `columns` numbers.
    void matrix(const char* name, std::span<const double> values, std::int64_t columns) {
        fmt::format_to(next(), "\"{}\":[", name);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool row_begins = i % static_cast<std::size_t>(columns) == 0;
            const char* before = i == 0 ? "[" : row_begins ? "],[" : ",";
            fmt::format_to(std::back_inserter(text_), "{}{}", before, values[i]);
        }
        fmt::format_to(std::back_inserter(text_), "{}", values.empty() ? "]" : "]]");
    }
    /// A value that needs no escaping.
    void word(const char* name, std::string_view value) { fmt::format_to(next(), "\"{}\":\"{}\"", name, value); }
    void no(const char* name) { fmt::format_to(next(), "\"{}\":false", name); }

    void finish() { text_.push_back('}'); }

  private:
    std::back_insert_iterator<std::string> next() {
        text_.push_back(text_.empty() ? '{' : ',');
        return std::back_inserter(text_);
    }
    std::string& text_;
};

void add(Line& line, const Progress& progress) {
    const StepReport& step = progress.step;
    line.integer("step", step.step);
    for_each_scalar(progress, [&](const char* name, double value) { line.number(name, value); });
    if (step.experts) line.matrix("expert_load", step.experts->load, step.experts->experts);
    if (!step.updated) line.no("updated");
    if (step.fault != StepFault::none) line.word("skipped", to_string(step.fault));
    if (progress.ended_by) line.word("ended_by", to_string(*progress.ended_by));
}

}  // namespace

std::string metrics_line(const Progress& progress) {
    std::string text;
    Line line(text);
    add(line, progress);
    line.finish();
    return text;
}

void MetricsWriter::write(const Progress& progress) {
    Line line(text_);
    add(line, progress);
    line.finish();
    lines_.write_line(text_);
}

}  // namespace causeway::train
