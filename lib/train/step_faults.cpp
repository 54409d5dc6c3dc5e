// What a Trainer does when a step goes wrong: find out where, and answer as section "train" says.

#include <cmath>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "exec/finite_check.hpp"
#include "train/trainer.hpp"

namespace causeway::train {
namespace {

/// The first gradient that is not finite, for a message; empty when all are.
std::string bad_gradient(const std::vector<NamedTensor>& gradients) {
    for (const NamedTensor& gradient : gradients) {
        const auto bad = first_not_finite(gradient.view);
        if (!bad) continue;
        return fmt::format("; '{}' is {} at element {} of {}", gradient.name, bad->value, bad->index,
                           to_string(gradient.view.desc.shape));
    }
    return "";
}

}  // namespace

/// Runs the window's micro-batches once more, until one of them gives a value that is not finite. Gradients of the step
/// are lost by it; nobody uses them.
std::string Trainer::trace_fault(const StepReport& report) {
    for (std::int64_t i = 0; i < windows_.micro_batches(window_); ++i) {
        const RunArgs args = draw_micro_batch(report, i);
        give_batch(*train_);
        const auto place = find_not_finite(*train_->executor, Phase::step, args);
        if (place) return ": " + describe(train_->executor->plan(), *place);
    }
    return ", while every value of the step is finite";
}

void Trainer::answer_not_finite(StepReport& report, const char* what, double value) {
    report.loss = without_nan_sign(report.loss);
    const std::string gradient = bad_gradient(gradients());  // before the second run
    const std::string text = fmt::format("step {}: the {} is {}{}{}", report.step, what, without_nan_sign(value),
                                         trace_fault(report), gradient);
    answer(report, StepFault::non_finite, config_.train.on_non_finite, text);
}

/// The update phase found the norm in report.grad_norm unfit and left the parameters alone.
void Trainer::answer_left_out(StepReport& report) {
    const double norm = report.grad_norm;
    if (!std::isfinite(norm)) return answer_not_finite(report, "gradient norm", norm);
    if (norm > guards_.norm_limit()) {
        const std::string text =
            fmt::format("step {}: the gradient norm {:.4g} is a spike: usual is {:.4g}, train.spike_factor is {:g}",
                        report.step, norm, guards_.usual_norm(), config_.train.spike_factor);
        return answer(report, StepFault::spike, config_.train.on_spike, text);
    }
    const std::string text = fmt::format(
        "step {}: the gradient norm {:.4g} is beyond what the optimizer can keep in 32 bits; train.max_grad_norm clips "
        "it",
        report.step, norm);
    answer(report, StepFault::non_finite, config_.train.on_non_finite, text);
}

void Trainer::answer(StepReport& report, StepFault fault, FaultPolicy policy, const std::string& text) {
    if (policy == FaultPolicy::stop) throw NumericError(text + "; the parameters are as before the step");
    report.updated = false;
    report.fault = fault;
    if (policy == FaultPolicy::rollback) {
        guards_.rolling_back(report.step, text);
        restore_last_good(text);
        report.rolled_back = true;
        report.fault_text = fmt::format("{}; gone back to step {}", text, step_);
    } else {
        guards_.skipped(text);
        report.fault_text = text + "; the step was left out";
    }
}

void Trainer::restore_last_good(const std::string& reason) {
    constexpr const char* unchanged = "the parameters are as before the step";
    if (!restore_) throw NumericError(fmt::format("{}; there is no checkpoint to go back to; {}", reason, unchanged));
    try {
        restore_(reason);
    } catch (const IoError& error) {
        throw NumericError(fmt::format("{}; {}; {}", reason, error.what(), unchanged));
    }
}

/// Runs the batch, which is still there, once more, to say where it went wrong.
void Trainer::throw_bad_validation(RowRange rows) {
    const double loss = without_nan_sign(eval_->loss[0]);
    give_batch(*eval_);
    const auto place = find_not_finite(*eval_->executor, Phase::step, {});
    throw NumericError(fmt::format("after step {}: the validation loss is {} from row {} on{}", step_, loss, rows.first,
                                   place ? ": " + describe(eval_->executor->plan(), *place) : ""));
}

}  // namespace causeway::train
