#include "train_records.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"
#include "causeway/version.hpp"
#include "io/atomic_file.hpp"
#include "train/metrics.hpp"

namespace causeway::cli {
namespace {

report::RunCard card_of(train::Trainer& trainer, double peak) {
    const ExecutionPlan& plan = trainer.plan("train");
    const TrainConfig& train = trainer.config().train;
    report::RunCard card;
    card.version = version();
    card.data = trainer.data_description();
    card.cpu = cpu_model();
    card.isa = to_string(plan.isa);
    card.threads = trainer.threads();
    card.peak_flops_per_second = peak;
    card.parameters = trainer.parameter_count();
    const auto region = [&](Region r) { return plan.memory.region_bytes[static_cast<std::size_t>(r)]; };
    card.parameter_bytes = region(Region::parameters);
    card.state_bytes = region(Region::state);
    card.scratch_bytes = region(Region::scratch);
    card.flops_per_step = trainer.flops_per_step();
    card.plan_steps = static_cast<std::int64_t>(plan.steps.size());
    card.plan_groups = static_cast<std::int64_t>(plan.groups.size());
    card.planned_steps = trainer.step_limit().steps.value_or(0);
    card.tokens_per_step = train.batch_size * train.sequence_length * train.gradient_accumulation_steps;
    return card;
}

/// Those of the run so far, when it is one that goes on, and the new one.
std::vector<report::Session> sessions(const RunFolder& run, std::int64_t steps_done) {
    std::vector<report::Session> all;
    if (const auto before = report::read_card(run.card()); before && steps_done > 0) {
        all = before->sessions;
        if (!all.empty()) all.back() = before->last_session();
    }
    all.push_back({report::utc_time(), steps_done + 1, report::RunState::running, "", getpid()});
    return all;
}

/// Four blanks before each line make it a block of code, which keeps its line ends and is no markup.
std::string as_markdown(const std::string& text) {
    std::string out = "    ";
    for (const char c : text) {
        out += c;
        if (c == '\n') out += "    ";
    }
    return out;
}

}  // namespace

TrainRecords::TrainRecords(train::Trainer& trainer, TrainSamples& samples, const RunFolder& run, double peak)
    : run_(run), samples_(samples), card_(card_of(trainer, peak)) {
    const TrainConfig& train = trainer.config().train;
    const std::int64_t done = trainer.steps_done();
    card_.sessions = sessions(run, done);
    write_card();
    if (train.sample_every > 0) {
        samples_.open(run.samples(), done);
    }
    if (train.tensorboard) events_.emplace(run.events()).write_start(done + 1);
    if (train.report) {
        report_.emplace(run, trainer.config());
        report_->write();
    }
}

std::string TrainRecords::after_step(const train::Progress& progress) {
    std::string trouble;
    std::optional<std::string> sample;
    attempt("samples.jsonl", trouble, [&] { sample = samples_.after_step(progress.step.step); });
    if (events_) attempt("tensorboard", trouble, [&] { write_events(progress, sample); });
    if (report_) attempt("report.html", trouble, [&] { report_->write_when_due(progress.validation || sample); });
    return trouble;
}

std::string TrainRecords::roll_back(std::int64_t step) {
    std::string trouble;
    attempt("samples.jsonl", trouble, [&] { samples_.cut_after(step); });
    if (events_) attempt("tensorboard", trouble, [&] { events_->write_start(step + 1); });
    if (report_) report_->forget();
    return trouble;
}

std::string TrainRecords::end(report::RunState state, const std::string& why) {
    std::string trouble;
    card_.sessions.back().state = state;
    card_.sessions.back().ended_by = why;
    attempt("run.json", trouble, [&] { write_card(); });
    if (report_) attempt("report.html", trouble, [&] { report_->write(); });
    return trouble;
}

/// Adds to `trouble` what goes wrong in f for the first time.
template <class F>
void TrainRecords::attempt(const char* what, std::string& trouble, F&& f) {
    try {
        f();
    } catch (const Error& error) {
        failed_ = true;
        if (std::ranges::find(told_, what) != told_.end()) return;
        told_.emplace_back(what);
        trouble += fmt::format("{}{}: {}", trouble.empty() ? "" : "; ", what, error.what());
    }
}

void TrainRecords::write_events(const train::Progress& progress, const std::optional<std::string>& sample) {
    std::vector<tensorboard::Scalar> scalars;
    train::for_each_scalar(progress, [&](const char* name, double value) { scalars.push_back({name, value}); });
    events_->write_scalars(progress.step.step, scalars);
    if (sample) events_->write_text(progress.step.step, "sample", as_markdown(*sample));
}

void TrainRecords::write_card() { write_text_atomically(run_.card(), to_json(card_)); }

}  // namespace causeway::cli
