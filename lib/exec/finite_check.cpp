#include "exec/finite_check.hpp"

#include <cmath>

#include "base/format.hpp"

namespace causeway {
namespace {

template <class T>
std::optional<BadElement> first_bad(const TensorView& view) {
    const T* data = view.as<const T>();
    for (std::int64_t i = 0; i < view.desc.stored_elements; ++i) {
        if (!std::isfinite(data[i])) return BadElement{i, without_nan_sign(static_cast<double>(data[i]))};
    }
    return std::nullopt;
}

/// Looks at the outputs of each node when the last of its groups has run: later they may be gone.
class FiniteCheck final : public ExecutionObserver {
  public:
    explicit FiniteCheck(Executor& executor) : executor_(executor) { executor_.observe(*this); }
    ~FiniteCheck() override { executor_.stop_observing(*this); }
    FiniteCheck(const FiniteCheck&) = delete;
    FiniteCheck& operator=(const FiniteCheck&) = delete;

    void group_ends(std::int32_t group) override {
        const std::vector<PlannedNode>& nodes = executor_.plan().nodes;
        for (std::size_t n = 0; n < nodes.size() && !found_; ++n) {
            if (nodes[n].last_group == group) look_at(static_cast<std::int32_t>(n));
        }
    }

    const std::optional<NotFinite>& found() const { return found_; }

  private:
    void look_at(std::int32_t index) {
        const PlannedNode& node = executor_.plan().nodes[static_cast<std::size_t>(index)];
        for (const std::int32_t output : node.outputs) {
            const auto bad = output < 0 ? std::nullopt : first_not_finite(executor_.view(output));
            if (!bad) continue;
            found_ = NotFinite{index, output, *bad, -1, {}};
            look_at_parameters(node);
            return;
        }
    }

    void look_at_parameters(const PlannedNode& node) {
        for (const std::int32_t input : node.inputs) {
            if (input < 0 || executor_.plan().values[static_cast<std::size_t>(input)].role != Role::parameter) continue;
            if (const auto bad = first_not_finite(executor_.view(input))) {
                found_->parameter = input;
                found_->parameter_element = *bad;
                return;
            }
        }
    }

    Executor& executor_;
    std::optional<NotFinite> found_;
};

}  // namespace

double without_nan_sign(double value) { return std::isnan(value) ? std::abs(value) : value; }

std::optional<BadElement> first_not_finite(const TensorView& view) {
    if (view.desc.dtype == DType::f32) return first_bad<float>(view);
    if (view.desc.dtype == DType::f64) return first_bad<double>(view);
    return std::nullopt;
}

std::optional<NotFinite> find_not_finite(Executor& executor, Phase phase, const RunArgs& args) {
    FiniteCheck check(executor);
    executor.run(phase, args);
    return check.found();
}

std::string describe(const ExecutionPlan& plan, const NotFinite& place) {
    const PlannedNode& node = plan.nodes[static_cast<std::size_t>(place.node)];
    const PlannedValue& output = plan.values[static_cast<std::size_t>(place.output)];
    std::string text =
        fmt::format("'{}' ({}) is the first to give a value that is not finite, {} at element {} of {}", node.name,
                    node.op, place.element.value, place.element.index, to_string(output.desc.shape));
    if (place.parameter >= 0) {
        text += fmt::format("; its parameter '{}' is {} at element {}",
                            plan.values[static_cast<std::size_t>(place.parameter)].name, place.parameter_element.value,
                            place.parameter_element.index);
    }
    return text;
}

}  // namespace causeway
