#include "inspect/gradient_check.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "exec/model_runtime.hpp"
#include "inspect/check_model.hpp"
#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

std::int64_t sequence_length(const Config& config, const GradientCheckOptions& options) {
    if (options.sequence_length > 0) return options.sequence_length;
    return std::min<std::int64_t>(6, config.model.max_position_embeddings);
}

ModelRuntime make_runtime(const Config& config, const GradientCheckOptions& options) {
    SharedLayout layout;
    std::vector<ExecutionPlan> plans;
    for (Mode mode : {Mode::train, Mode::eval}) {
        CompileOptions compiled;
        compiled.mode = mode;
        compiled.batch = options.batch;
        compiled.sequence_length = sequence_length(config, options);
        compiled.dtype = DType::f64;
        compiled.dropout = true;          // both plans then drop the same elements
        compiled.balance_experts = true;  // differences see what the gradient is of
        plans.push_back(compile(config, compiled, layout));
    }
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

}  // namespace

class GradientChecker::Impl {
  public:
    Impl(const Config& config, const GradientCheckOptions& options)
        : config_(config),
          options_(options),
          runtime_(make_runtime(config, options)),
          eval_(runtime_.executor("eval")) {
        parameters_ = runtime_.parameters();
        draw_check_parameters(parameters_, options.seed);
        runtime_.refresh();
        Executor& train = runtime_.executor("train");
        fill_batch(train);
        train.run(Phase::step, {});
        train_loss_ = objective(train);
        fill_batch(eval_);  // the plans share their scratch memory
        loss_ = evaluate();
    }

    std::vector<NamedTensor> gradients() { return runtime_.gradients(); }

    GradientCheck compare() {
        GradientCheck check;
        check.loss = loss_;
        check.parameters = runtime_.parameter_count();
        const std::vector<NamedTensor> gradients = runtime_.gradients();
        const bool every_scalar = check.parameters <= options_.every_scalar_up_to;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const std::span<double> parameter = span(parameters_[i]);
            const std::span<const double> gradient = span(gradient_of(gradients, parameters_[i].name));
            TensorCheck tensor;
            tensor.name = parameters_[i].name;
            tensor.elements = static_cast<std::int64_t>(parameter.size());
            for (double g : gradient) tensor.largest_gradient = std::max(tensor.largest_gradient, std::abs(g));
            RandomStream random(options_.seed, stream_of(RandomDomain::check_directions, i));
            check_scalars(tensor, parameter, gradient, every_scalar, random);
            if (!every_scalar) check_direction(tensor, parameter, gradient, random);
            check.tensors.push_back(std::move(tensor));
        }
        add_loss_check(check);
        return check;
    }

  private:
    static std::span<double> span(const NamedTensor& tensor) {
        return {tensor.view.as<double>(), static_cast<std::size_t>(tensor.view.desc.stored_elements)};
    }

    static const NamedTensor& gradient_of(const std::vector<NamedTensor>& gradients, const std::string& parameter) {
        for (const NamedTensor& gradient : gradients) {
            if (gradient.name == parameter + ".grad") return gradient;
        }
        throw GraphError(fmt::format("parameter '{}' has no gradient", parameter));
    }

    void fill_batch(Executor& executor) {
        draw_check_batch(config_.model.vocab_size, options_.seed, executor.values<std::int32_t>("tokens"),
                         executor.values<std::int32_t>("targets"));
    }

    /// What the gradients are of, with the parameters as they are: the sum of the losses and, with experts, the
    /// auxiliary loss times its coefficient and the valid targets.
    double evaluate() {
        eval_.run(Phase::pack, {});
        eval_.run(Phase::step, {});
        return objective(eval_);
    }

    double objective(Executor& executor) const {
        const double loss = executor.values<double>("loss")[0];
        if (!executor.plan().has("aux_loss")) return loss;
        const auto targets = executor.values<const std::int32_t>("targets");
        const auto valid = static_cast<double>(std::ranges::count_if(targets, is_scored));
        return loss + config_.model.router_aux_loss_coef * valid * executor.values<double>("aux_loss")[0];
    }

    /// (f(h) - f(-h)) / 2h, f the loss after moving by h. The truncation error goes with h^2, the rounding error with
    /// 1/h: 1e-5 lies near the least sum of both for doubles.
    template <class Move>
    double central_difference(Move&& move, double h) {
        move(h);
        const double above = evaluate();
        move(-h);
        const double below = evaluate();
        move(0);
        return (above - below) / (2 * h);
    }

    /// Compares a derivative with its central difference. When they disagree, Richardson's extrapolation
    /// (4 D(h) - D(2h)) / 3 decides, which takes out the h^2 term: with a wider h, where rounding hid the derivative,
    /// or with a narrower one, where logits are so large that the softmax bends within h.
    template <class Move>
    void check_derivative(TensorCheck& tensor, double analytic, double step, std::int64_t element, Move&& move) {
        const double absolute_tolerance = options_.absolute_tolerance * std::max(1.0, std::abs(loss_));
        const auto tolerances = [&](double numeric) {
            return std::abs(analytic - numeric) /
                   (absolute_tolerance + options_.relative_tolerance * std::abs(numeric));
        };
        double numeric = central_difference(move, step);
        for (const double h : {8 * step, step / 32}) {
            if (tolerances(numeric) <= 0.5) break;  // never for a NaN
            const double better = (4 * central_difference(move, h) - central_difference(move, 2 * h)) / 3;
            if (tolerances(better) < tolerances(numeric)) numeric = better;
        }
        const double error = std::abs(analytic - numeric);
        const double size = std::max(std::abs(analytic), std::abs(numeric));
        tensor.absolute_error = std::max(tensor.absolute_error, error);
        if (size > 1e-4) tensor.relative_error = std::max(tensor.relative_error, error / size);
        if (!(tolerances(numeric) <= tensor.tolerances)) {  // a NaN counts as the worst
            tensor.tolerances = std::isnan(tolerances(numeric)) ? INFINITY : tolerances(numeric);
            tensor.worst_element = element;
        }
    }

    void check_scalars(TensorCheck& tensor, std::span<double> parameter, std::span<const double> gradient,
                       bool every_scalar, RandomStream& random) {
        const auto size = static_cast<std::int64_t>(parameter.size());
        tensor.checked = every_scalar ? size : std::min(options_.samples, size);
        for (std::int64_t n = 0; n < tensor.checked; ++n) {
            const std::int64_t element =
                tensor.checked == size ? n : static_cast<std::int64_t>(random.next_below(parameter.size()));
            double& scalar = parameter[static_cast<std::size_t>(element)];
            const double before = scalar;
            const double step = 1e-5 * std::max(1.0, std::abs(before));
            check_derivative(tensor, gradient[static_cast<std::size_t>(element)], step, element,
                             [&](double h) { scalar = before + h; });
        }
    }

    /// The derivative along a random unit vector through the whole tensor sees every element at once.
    void check_direction(TensorCheck& tensor, std::span<double> parameter, std::span<const double> gradient,
                         RandomStream& random) {
        std::vector<double> direction(parameter.size()), before(parameter.begin(), parameter.end());
        double square = 0;
        for (double& d : direction) {
            d = random.next_normal();
            square += d * d;
        }
        double analytic = 0;
        for (std::size_t i = 0; i < direction.size(); ++i) {
            direction[i] /= std::sqrt(square);
            analytic += direction[i] * gradient[i];
        }
        tensor.direction = true;
        check_derivative(tensor, analytic, 1e-4, -1, [&](double h) {
            for (std::size_t i = 0; i < direction.size(); ++i) parameter[i] = before[i] + h * direction[i];
        });
    }

    /// The training plan's loss must be the evaluation plan's.
    void add_loss_check(GradientCheck& check) const {
        TensorCheck tensor;
        tensor.name = "loss (training against evaluation plan)";
        tensor.elements = tensor.checked = 1;
        tensor.absolute_error = std::abs(train_loss_ - loss_);
        tensor.relative_error = tensor.absolute_error / std::max(std::abs(loss_), 1e-300);  // 0 with one token
        tensor.tolerances = tensor.absolute_error / (1e-12 * std::max(1.0, std::abs(loss_)));
        if (std::isnan(tensor.tolerances)) tensor.tolerances = INFINITY;
        check.tensors.push_back(std::move(tensor));
    }

    Config config_;
    GradientCheckOptions options_;
    ModelRuntime runtime_;
    Executor& eval_;
    std::vector<NamedTensor> parameters_;
    double train_loss_ = 0, loss_ = 0;
};

GradientChecker::GradientChecker(const Config& config, const GradientCheckOptions& options)
    : impl_(std::make_unique<Impl>(config, options)) {}
GradientChecker::~GradientChecker() = default;
std::vector<NamedTensor> GradientChecker::gradients() { return impl_->gradients(); }
GradientCheck GradientChecker::compare() { return impl_->compare(); }

bool GradientCheck::passed() const { return !tensors.empty() && std::ranges::all_of(tensors, &TensorCheck::passed); }

GradientCheck check_gradients(const Config& config, const GradientCheckOptions& options) {
    return GradientChecker(config, options).compare();
}

std::string gradient_check_text(const GradientCheck& check) {
    constexpr auto right = TextTable::Align::right;
    TextTable table({{"tensor"},
                     {"elements", right},
                     {"checked", right},
                     {"largest gradient", right},
                     {"absolute error", right},
                     {"relative error", right},
                     {"of tolerance", right},
                     {""}});
    for (const TensorCheck& tensor : check.tensors) {
        table.add({tensor.name, count_text(tensor.elements),
                   fmt::format("{}{}", count_text(tensor.checked), tensor.direction ? " + direction" : ""),
                   fmt::format("{:.3g}", tensor.largest_gradient), fmt::format("{:.2g}", tensor.absolute_error),
                   fmt::format("{:.2g}", tensor.relative_error), fmt::format("{:.3g}", tensor.tolerances),
                   tensor.passed() ? "ok" : fmt::format("FAILED at {}", tensor.worst_element)});
    }
    return fmt::format("{}gradients of {} parameters {} central differences (f64, summed loss {:.6g})\n", table.str(),
                       count_text(check.parameters), check.passed() ? "agree with" : "DISAGREE with", check.loss);
}

}  // namespace causeway
