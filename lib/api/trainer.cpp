#include "causeway/trainer.hpp"

#include "api/program_impl.hpp"
#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/run_folder.hpp"
#include "train/resume.hpp"
#include "train/run_checkpoints.hpp"
#include "train/trainer.hpp"

namespace causeway {
namespace {

StepReport report_of(const train::StepReport& step) {
    return {step.step,      step.loss,         step.learning_rate,
            step.grad_norm, step.valid_tokens, static_cast<double>(step.tokens) / step.seconds,
            step.updated,   step.fault_text};
}

std::span<float> find(const std::vector<NamedTensor>& tensors, std::string_view name, std::string_view parameter) {
    for (const NamedTensor& tensor : tensors) {
        if (tensor.name == name) {
            return {tensor.view.as<float>(), static_cast<std::size_t>(tensor.view.desc.stored_elements)};
        }
    }
    throw GraphError(fmt::format("the model has no parameter named '{}'", parameter));
}

}  // namespace

struct Trainer::Impl {
    explicit Impl(const Config& config) : trainer(config) {}
    train::Trainer trainer;
    std::optional<train::BestEvaluation> last, best;  ///< of evaluate()
};

Trainer::Trainer(const Program& program) : impl_(std::make_unique<Impl>(program.impl_->config)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&& other) noexcept = default;
Trainer& Trainer::operator=(Trainer&& other) noexcept = default;

StepReport Trainer::step() { return report_of(impl_->trainer.step()); }

StepReport Trainer::run(const std::function<bool(const StepReport&)>& on_step) {
    const Stopwatch watch;
    StepReport last;
    while (!impl_->trainer.reached_limit(watch.seconds())) {
        last = step();
        if (on_step && !on_step(last)) break;
    }
    return last;
}

Evaluation Trainer::evaluate() {
    const train::Evaluation evaluation = impl_->trainer.evaluate();
    impl_->last = train::BestEvaluation{steps_done(), evaluation.loss};
    if (!impl_->best || evaluation.loss < impl_->best->loss) impl_->best = impl_->last;
    return {evaluation.loss, evaluation.valid_tokens, evaluation.accuracy, evaluation.bits_per_byte};
}

std::int64_t Trainer::steps_done() const { return impl_->trainer.steps_done(); }
void Trainer::save(const std::string& folder) { impl_->trainer.save(folder); }

void Trainer::save_checkpoint(const std::string& folder) {
    const RunFolder run{folder};
    train::RunCheckpoints checkpoints(run, impl_->trainer);
    if (impl_->best) checkpoints.evaluated(impl_->best->step, impl_->best->loss);
    if (impl_->last) checkpoints.evaluated(impl_->last->step, impl_->last->loss);
    make_folder(folder);
    write_text_atomically(run.config(), to_json(impl_->trainer.config()));
    checkpoints.save("");
}

Resumed Trainer::resume(const std::string& folder) {
    const train::FoundCheckpoint found = train::find_checkpoint({folder});
    if (!found.checkpoint) throw IoError(fmt::format("{}: has no checkpoint to go on from", folder));
    train::Resumed resumed = train::resume(impl_->trainer, found);
    impl_->last.reset();
    impl_->best = found.checkpoint->record().best;
    std::vector<std::string> notes = std::move(resumed.warnings);
    notes.insert(notes.end(), resumed.notes.begin(), resumed.notes.end());
    return {resumed.step, resumed.checkpoint, std::move(notes)};
}

std::vector<std::string> Trainer::load(const std::string& path) { return impl_->trainer.load_parameters(path); }
void Trainer::parameters_changed() { impl_->trainer.refresh(); }

std::span<float> Trainer::parameter(std::string_view name) { return find(impl_->trainer.parameters(), name, name); }

std::span<const float> Trainer::summed_gradient(std::string_view name) {
    return find(impl_->trainer.gradients(), fmt::format("{}.grad", name), name);
}

}  // namespace causeway
