#include "causeway/trainer.hpp"

#include <fmt/format.h>

#include "api/program_impl.hpp"
#include "causeway/error.hpp"
#include "train/stopwatch.hpp"
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
};

Trainer::Trainer(const Program& program) : impl_(std::make_unique<Impl>(program.impl_->config)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&& other) noexcept = default;
Trainer& Trainer::operator=(Trainer&& other) noexcept = default;

StepReport Trainer::step() { return report_of(impl_->trainer.step()); }

StepReport Trainer::run(const std::function<bool(const StepReport&)>& on_step) {
    const train::Stopwatch watch;
    StepReport last;
    while (!impl_->trainer.reached_limit(watch.seconds())) {
        last = step();
        if (on_step && !on_step(last)) break;
    }
    return last;
}

Evaluation Trainer::evaluate() {
    const train::Evaluation evaluation = impl_->trainer.evaluate();
    return {evaluation.loss, evaluation.valid_tokens, evaluation.accuracy, evaluation.bits_per_byte};
}

std::int64_t Trainer::steps_done() const { return impl_->trainer.steps_done(); }
void Trainer::save(const std::string& folder) { impl_->trainer.save(folder); }
std::vector<std::string> Trainer::load(const std::string& path) { return impl_->trainer.load_parameters(path); }
void Trainer::parameters_changed() { impl_->trainer.refresh(); }

std::span<float> Trainer::parameter(std::string_view name) { return find(impl_->trainer.parameters(), name, name); }

std::span<const float> Trainer::summed_gradient(std::string_view name) {
    return find(impl_->trainer.gradients(), fmt::format("{}.grad", name), name);
}

}  // namespace causeway
