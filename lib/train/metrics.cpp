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

void add(Line& line, const Evaluation& validation) {
    line.number("val_loss", validation.loss);
    line.number("val_perplexity", validation.perplexity());
    if (validation.bits_per_byte) line.number("val_bits_per_byte", *validation.bits_per_byte);
    if (validation.accuracy) line.number("val_accuracy", *validation.accuracy);
}

void add(Line& line, const Progress& progress) {
    const StepReport& step = progress.step;
    line.integer("step", step.step);
    line.number("loss", step.loss);
    if (progress.validation) add(line, *progress.validation);
    line.number("learning_rate", step.learning_rate);
    line.number("grad_norm", step.grad_norm);
    line.number("tokens_per_second", static_cast<double>(step.tokens) / step.seconds);
    line.number("elapsed_s", progress.elapsed_seconds);
    if (progress.epoch) {
        line.integer("epoch", progress.epoch->epoch);
        line.number("epoch_mean_loss", progress.epoch->mean_loss);
    }
    if (step.experts) {
        line.number("aux_loss", step.experts->aux_loss);
        line.matrix("expert_load", step.experts->load, step.experts->experts);
    }
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
