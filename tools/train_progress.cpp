#include "train_progress.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.hpp"
#include "inspect/units.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr std::chrono::milliseconds redraw_interval{100};
constexpr double fade = 0.95;  ///< a step: rates follow the last twenty or so

/// The auxiliary loss, and the smallest and the largest share an expert has of its layer's choices.
std::string experts_text(const train::ExpertReport& experts) {
    const auto [least, most] = std::ranges::minmax(experts.load);
    return fmt::format(" | aux {:.3f} | experts {:.0f}-{:.0f}%", experts.aux_loss, 100 * least, 100 * most);
}

std::string with_width(std::int64_t value, std::int64_t widest) {
    return fmt::format("{:>{}}", value, std::to_string(widest).size());
}

}  // namespace

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
    if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void TrainProgress::show(const train::Progress& progress) {
    count(progress.step);
    if (const auto& validation = progress.validation; validation && validation->valid_tokens > 0) {
        validation_loss_ = validation->loss;
    }
    elapsed_seconds_ = progress.elapsed_seconds;
    seconds_per_step_ = progress.elapsed_seconds / static_cast<double>(progress.step.step);
    show_step(progress);
    const std::string lines = stay_lines(progress);
    if (lines.empty()) return;
    finish();
    print(lines);
}

void TrainProgress::count(const train::StepReport& step) {
    tokens_ = tokens_ * fade + static_cast<double>(step.tokens);
    seconds_ = seconds_ * fade + step.seconds;
    steps_ = steps_ * fade + 1;
}

void TrainProgress::show_step(const train::Progress& progress) {
    if (!is_due(progress)) return;
    if (!terminal_) return print(step_line(progress.step) + "\n");
    // Carriage return, the line, erase to the end.
    const auto width = static_cast<std::size_t>(std::max(1, terminal_width() - 1));
    print(fmt::format("\r{}{}{}\x1b[K", colour_ ? "\x1b[36m" : "", short_line(progress.step, width),
                      colour_ ? "\x1b[0m" : ""));
    drawn_ = true;
}

bool TrainProgress::is_due(const train::Progress& progress) {
    const bool end = progress.step.step == 1 || progress.ended_by;
    if (!terminal_) return end || progress.step.step % facts_.log_every == 0;
    const auto now = Clock::now();
    if (!end && now - last_drawn_ < redraw_interval) return false;
    last_drawn_ = now;
    return true;
}

double TrainProgress::mfu() const {
    const double flops_per_second = facts_.flops_per_step * steps_ / seconds_;
    return facts_.peak_flops_per_second > 0 ? flops_per_second / facts_.peak_flops_per_second : 0;
}

/// By the steps that are left, the time that is left, or whichever ends first.
double TrainProgress::seconds_left(const train::StepReport& step) const {
    const double by_time = facts_.max_seconds - elapsed_seconds_;
    if (facts_.max_steps == 0) return by_time;
    const double by_steps = static_cast<double>(facts_.max_steps - step.step) * seconds_per_step_;
    return facts_.max_seconds > 0 ? std::min(by_steps, by_time) : by_steps;
}

std::string TrainProgress::step_text(const train::StepReport& step) const {
    if (facts_.max_steps == 0) return fmt::format("step {}", step.step);
    return fmt::format("step {}/{}", with_width(step.step, facts_.max_steps), facts_.max_steps);
}

std::string TrainProgress::step_line(const train::StepReport& step) const {
    std::string line = fmt::format("{} | loss {:.4f} | lr {:.2e} | norm {:.3f} | {:.0f} tok/s", step_text(step),
                                   step.loss, step.learning_rate, step.grad_norm, tokens_ / seconds_);
    if (facts_.peak_flops_per_second > 0) line += fmt::format(" | mfu {:.1f}%", 100 * mfu());
    line += fmt::format(" | eta {}", duration_text(seconds_left(step)));
    if (step.experts) line += experts_text(*step.experts);
    if (step.fault != train::StepFault::none) {
        line += fmt::format(" | left out: {}", to_string(step.fault));
    } else if (!step.updated) {
        line += " | no target counted, nothing learned";
    }
    return line;
}

std::string TrainProgress::short_line(const train::StepReport& step, std::size_t width) const {
    struct Part {
        std::string text;
        int rank;  ///< what is left out first has the highest
    };
    std::vector<Part> parts;
    parts.push_back({step_text(step), 0});
    parts.push_back({fmt::format("loss {:.4f}", step.loss), 1});
    if (validation_loss_) parts.push_back({fmt::format("val {:.4f}", *validation_loss_), 3});
    parts.push_back({fmt::format("lr {:.1e}", step.learning_rate), 5});
    parts.push_back({fmt::format("norm {:.2f}", step.grad_norm), 7});
    parts.push_back({fmt::format("{} tok/s", quantity_text(tokens_ / seconds_)), 4});
    if (facts_.peak_flops_per_second > 0) parts.push_back({fmt::format("mfu {:.0f}%", 100 * mfu()), 6});
    parts.push_back({fmt::format("eta {}", duration_text(seconds_left(step))), 2});

    const auto joined = [&](const char* separator) {
        std::string line;
        for (const Part& part : parts) line += (line.empty() ? "" : separator) + part.text;
        return line;
    };
    if (joined(" | ").size() <= width) return joined(" | ");
    while (joined(" ").size() > width && parts.size() > 1) {
        parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
    }
    return joined(" ").substr(0, width);
}

/// The validation and the end of an epoch, a line each.
std::string TrainProgress::stay_lines(const train::Progress& progress) const {
    const std::string head = step_text(progress.step) + " |";
    const char* bold = colour_ ? "\x1b[1m" : "";
    const char* plain = colour_ ? "\x1b[0m" : "";
    std::string lines;
    if (progress.epoch) {
        lines += fmt::format("{} epoch {} | mean loss {}{:.4f}{}\n", head, progress.epoch->epoch, bold,
                             progress.epoch->mean_loss, plain);
    }
    if (progress.validation && progress.validation->valid_tokens == 0) {
        lines += head + " val loss n/a: no target counts\n";
    } else if (progress.validation) {
        const train::Evaluation& validation = *progress.validation;
        lines += fmt::format("{} val loss {}{:.4f}{} | perplexity {:.4g}", head, bold, validation.loss, plain,
                             validation.perplexity());
        if (validation.bits_per_byte) lines += fmt::format(" | {:.4f} bits/byte", *validation.bits_per_byte);
        if (validation.accuracy) lines += fmt::format(" | accuracy {:.2f}%", 100 * *validation.accuracy);
        lines += fmt::format(" | {} targets in {:.1f} s\n", validation.valid_tokens, validation.seconds);
    }
    return lines;
}

void TrainProgress::finish() {
    if (!drawn_) return;
    drawn_ = false;
    print("\n");
}

}  // namespace causeway::cli
