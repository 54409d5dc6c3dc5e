#pragma once

#include <string>

#include "io/append_file.hpp"
#include "train/trainer.hpp"

namespace causeway::train {

/// Calls f(name, value) for each number that a step's record has, under the names of metrics.jsonl and in its order.
template <class F>
void for_each_scalar(const Progress& progress, F&& f) {
    const StepReport& step = progress.step;
    f("loss", step.loss);
    if (const auto& validation = progress.validation; validation && validation->valid_tokens > 0) {
        f("val_loss", validation->loss);
        f("val_perplexity", validation->perplexity());
        if (validation->bits_per_byte) f("val_bits_per_byte", *validation->bits_per_byte);
        if (validation->accuracy) f("val_accuracy", *validation->accuracy);
    }
    f("learning_rate", step.learning_rate);
    f("grad_norm", step.grad_norm);
    f("tokens_per_second", static_cast<double>(step.tokens) / step.seconds);
    f("elapsed_s", progress.elapsed_seconds);
    if (progress.epoch) {
        f("epoch", static_cast<double>(progress.epoch->epoch));
        f("epoch_mean_loss", progress.epoch->mean_loss);
    }
    if (step.experts) f("aux_loss", step.experts->aux_loss);
}

/// One JSON object, without a newline: step, loss; when evaluated on targets that count val_loss, val_perplexity,
/// val_bits_per_byte (of text) and val_accuracy (of tasks); learning_rate, grad_norm, tokens_per_second, elapsed_s; at
/// an epoch's end epoch and epoch_mean_loss; with experts aux_loss (without its coefficient) and expert_load, the
/// shares of each layer's experts; "updated": false where nothing was learned, with skipped ("non_finite" or "spike")
/// where a fault was why; ended_by (see EndedBy) on the last line of a run. Numbers are the shortest that read back to
/// the same double, whatever the locale.
std::string metrics_line(const Progress& progress);

/// The record of a run, DIR/metrics.jsonl: a line a step, each handed to the system as it is written.
class MetricsWriter {
  public:
    /// Begins a new file, or goes on with one. Throws IoError when it cannot be written.
    explicit MetricsWriter(const std::string& path, AppendFile::Mode mode = AppendFile::Mode::truncate)
        : lines_(path, mode) {
        text_.reserve(4096);
    }

    /// Throws IoError, for instance on a full disk; the file then ends with the last complete line.
    void write(const Progress& progress);

    /// The line that was written last, or that could not be; empty before the first.
    const std::string& line() const { return text_; }
    /// Forces the lines to the disk. Throws IoError.
    void sync() { lines_.sync(); }

  private:
    AppendFile lines_;
    std::string text_;  ///< of the line; keeps its memory from one to the next
};

}  // namespace causeway::train
