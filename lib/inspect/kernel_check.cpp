#include "inspect/kernel_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/format.hpp"
#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "exec/model_runtime.hpp"
#include "inspect/check_model.hpp"
#include "inspect/text_table.hpp"

namespace causeway {
namespace {

/// A kind of plan that is compared.
struct PlanCase {
    Mode mode;
    bool fuse;
    AttentionPath attention;
    std::string name() const {
        return fmt::format("{}{}{}", to_string(mode), fuse ? "" : " unfused",
                           attention == AttentionPath::tiled ? "" : " explicit");
    }
};

constexpr std::array plan_cases{PlanCase{Mode::train, true, AttentionPath::tiled},
                                PlanCase{Mode::train, false, AttentionPath::tiled},
                                PlanCase{Mode::train, true, AttentionPath::explicit_weights},
                                PlanCase{Mode::eval, true, AttentionPath::tiled},
                                PlanCase{Mode::logits, true, AttentionPath::explicit_weights},
                                PlanCase{Mode::prefill, true, AttentionPath::tiled},
                                PlanCase{Mode::prefill, true, AttentionPath::explicit_weights},
                                PlanCase{Mode::decode, true, AttentionPath::tiled}};

/// What the reference left in each value, by name, when its node had ended.
using Record = std::map<std::string, std::vector<double>>;

std::vector<double> to_doubles(const TensorView& view) {
    const auto count = static_cast<std::size_t>(view.desc.stored_elements);
    if (view.desc.dtype == DType::f64) return {view.as<double>(), view.as<double>() + count};
    return {view.as<float>(), view.as<float>() + count};
}

void from_doubles(const std::vector<double>& data, const TensorView& view) {
    if (view.desc.dtype == DType::f64) {
        std::ranges::copy(data, view.as<double>());
    } else {
        std::ranges::transform(data, view.as<float>(), [](double x) { return static_cast<float>(x); });
    }
}

bool comparable(const PlannedValue& value) {
    return value.role != Role::packed && (value.desc.dtype == DType::f32 || value.desc.dtype == DType::f64);
}

/// Rounds what each reference node writes to what the tested plan can hold, and records it: both sides then work on the
/// same numbers, and the next node's error is its own.
class Recorder final : public ExecutionObserver {
  public:
    Recorder(Executor& reference, const ExecutionPlan& tested) : reference_(reference), tested_(tested) {}

    void group_begins(std::int32_t) override {}
    void group_ends(std::int32_t group) override {
        for (const PlannedNode& node : reference_.plan().nodes) {
            if (node.last_group != group) continue;
            for (std::int32_t output : node.outputs) record(output);
        }
    }
    Record take() && { return std::move(record_); }

  private:
    void record(std::int32_t index) {
        const PlannedValue& value = reference_.plan().values[static_cast<std::size_t>(index)];
        if (!comparable(value)) return;
        const TensorView view = reference_.view(index);
        std::vector<double> data = to_doubles(view);
        if (tested_.value(value.name).desc.dtype == DType::f32) {
            for (double& x : data) x = static_cast<double>(static_cast<float>(x));
            from_doubles(data, view);
        }
        record_[value.name] = std::move(data);
    }

    Executor& reference_;
    const ExecutionPlan& tested_;
    Record record_;
};

/// The largest error of a tensor in units of its tolerance, and where it is.
struct LargestError {
    double tolerances = 0;
    std::size_t element = 0;
};

double rms(const std::vector<double>& data) {
    double squares = 0;
    for (double x : data) squares += x * x;
    return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(data.size(), 1)));
}

LargestError compare(const std::vector<double>& expected, const std::vector<double>& found, double scale,
                     double relative) {
    LargestError worst;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        // The floor is for tensors that are 0 throughout.
        const double tolerance = std::max(relative * (std::abs(expected[i]) + scale), 1e-12);
        const double error = std::abs(found[i] - expected[i]) / tolerance;
        if (error <= worst.tolerances) continue;  // a NaN goes on
        worst = {std::isnan(error) ? INFINITY : error, i};
    }
    return worst;
}

/// Gives each node of the tested plan the reference's inputs and compares what it makes of them.
class Comparer final : public ExecutionObserver {
  public:
    Comparer(Executor& tested, const Record& record, std::string plan_name, double tolerance,
             std::vector<OpCheck>& checks)
        : tested_(tested), record_(record), plan_name_(std::move(plan_name)), tolerance_(tolerance), checks_(checks) {}

    void group_begins(std::int32_t group) override {
        for (const PlannedNode& node : tested_.plan().nodes) {
            if (node.first_group != group) continue;
            for (std::int32_t input : node.inputs) {
                if (input < 0) continue;
                const auto known = record_.find(value(input).name);
                if (known != record_.end() && same_elements(known->second, tested_.view(input)))
                    from_doubles(known->second, tested_.view(input));
            }
        }
    }

    void group_ends(std::int32_t group) override {
        for (const PlannedNode& node : tested_.plan().nodes) {
            if (node.last_group != group) continue;
            const bool any = std::ranges::any_of(node.outputs, [&](std::int32_t i) { return comparable(value(i)); });
            if (!any) continue;
            OpCheck& check = check_of(node.op);
            ++check.nodes;
            for (std::int32_t output : node.outputs) compare_value(check, node, output);
        }
    }

  private:
    const PlannedValue& value(std::int32_t index) const {
        return tested_.plan().values[static_cast<std::size_t>(index)];
    }

    OpCheck& check_of(const std::string& op) {
        const auto known = std::ranges::find(checks_, op, &OpCheck::op);
        if (known != checks_.end()) return *known;
        checks_.push_back({op, 0, 0, ""});
        return checks_.back();
    }

    /// Partial sums are as many as the kernels of a plan have tiles.
    static bool same_elements(const std::vector<double>& data, const TensorView& view) {
        return static_cast<std::int64_t>(data.size()) == view.desc.stored_elements;
    }

    void compare_value(OpCheck& check, const PlannedNode& node, std::int32_t index) {
        if (!comparable(value(index))) return;
        std::vector<double> expected = recorded(index), found = to_doubles(tested_.view(index));
        if (expected.size() != found.size()) {
            expected = {std::accumulate(expected.begin(), expected.end(), 0.0)};
            found = {std::accumulate(found.begin(), found.end(), 0.0)};
        }
        const double scale = scale_of(node, index, rms(expected));
        const LargestError error = compare(expected, found, scale, tolerance_);
        if (error.tolerances <= check.tolerances && !check.worst.empty()) return;
        check.tolerances = error.tolerances;
        check.worst = fmt::format("{}: {}[{}]", plan_name_, value(index).name, error.element);
    }

    /// What the errors of a value are measured by. Where terms cancel that is not the value's own size: a mean's errors
    /// are those of what it is the mean of, and what is 0 but for the rounding of doubles (the gradient of a norm over
    /// one element) has the errors of its largest input.
    double scale_of(const PlannedNode& node, std::int32_t index, double own) const {
        if (value(index).name.ends_with(".mean")) return rms(recorded(node.inputs[0]));
        double largest = 0;
        for (std::int32_t input : node.inputs) {
            if (input >= 0 && comparable(value(input)))
                largest = std::max(largest, rms(to_doubles(tested_.view(input))));
        }
        return own > 1e-13 * largest ? own : largest;
    }

    const std::vector<double>& recorded(std::int32_t index) const {
        const auto known = record_.find(value(index).name);
        if (known != record_.end()) return known->second;
        throw GraphError(fmt::format("the reference plan has no value '{}'", value(index).name));
    }

    Executor& tested_;
    const Record& record_;
    std::string plan_name_;
    double tolerance_;
    std::vector<OpCheck>& checks_;
};

/// A small model of the config's kind: all layers are alike, so two show what more would, and rows of a vocabulary are.
Config check_config(const Config& config, AttentionPath attention) {
    Config small = config;
    small.model.num_hidden_layers = std::min<std::int64_t>(small.model.num_hidden_layers, 2);
    small.model.vocab_size = std::min<std::int64_t>(small.model.vocab_size, 4099);  // odd, to leave an edge
    small.runtime.attention = attention;
    return small;
}

/// The plan of a case with all values readable. Isa matters to f32 plans only.
ExecutionPlan make_plan(const Config& config, const PlanCase& plan_case, const KernelCheckOptions& options, Isa isa,
                        DType dtype) {
    CompileOptions compiled;
    compiled.mode = plan_case.mode;
    compiled.batch = options.batch;
    compiled.sequence_length = options.sequence_length > 0
                                   ? options.sequence_length
                                   : std::min<std::int64_t>(33, config.model.max_position_embeddings);
    compiled.dtype = dtype;
    compiled.isa = isa;
    compiled.fuse = plan_case.fuse;
    compiled.keep_values = true;
    SharedLayout layout;
    return compile(config, compiled, layout);
}

ModelRuntime make_runtime(const Config& config, ExecutionPlan plan) {
    std::vector<ExecutionPlan> plans;
    plans.push_back(std::move(plan));
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

void round_to_float(const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) {
        std::vector<double> data = to_doubles(tensor.view);
        for (double& x : data) x = static_cast<double>(static_cast<float>(x));
        from_doubles(data, tensor.view);
    }
}

/// Adam's moments as after some steps: m of either sign, v positive.
void draw_moments(const std::vector<NamedTensor>& moments, std::uint64_t seed) {
    std::uint64_t index = 0;
    for (const NamedTensor& tensor : moments) {
        RandomStream random(seed, stream_of(RandomDomain::check_moments, index++));
        std::vector<double> data(static_cast<std::size_t>(tensor.view.desc.stored_elements));
        const bool second = tensor.name.ends_with(".v");
        for (double& x : data) x = second ? 1e-4 * (0.5 + random.next_uniform()) : 1e-2 * random.next_normal();
        from_doubles(data, tensor.view);
    }
}

/// Fills the state of a runtime before a run; both sides get the same floats.
RunArgs prepare(ModelRuntime& runtime, Executor& executor, const Config& config, std::uint64_t seed) {
    std::vector<NamedTensor> parameters = runtime.parameters(), moments = runtime.moments();
    draw_check_parameters(parameters, seed);
    draw_moments(moments, seed);
    round_to_float(parameters);
    round_to_float(moments);
    runtime.refresh();
    const std::span<std::int32_t> tokens = executor.values<std::int32_t>("tokens");
    std::vector<std::int32_t> none;
    const std::span<std::int32_t> targets =
        executor.plan().has("targets") ? executor.values<std::int32_t>("targets") : std::span<std::int32_t>(none);
    draw_check_batch(config.model.vocab_size, seed, tokens, targets);
    if (executor.plan().has("past")) {  // every row begins here and is full
        std::ranges::fill(executor.values<std::int32_t>("past"), 0);
        const std::int64_t length = executor.plan().value("tokens").desc.shape.back();
        std::ranges::fill(executor.values<std::int32_t>("count"), static_cast<std::int32_t>(length));
    }
    RunArgs args;
    args.step = 3;
    args.learning_rate = 1e-3;
    args.valid_tokens = static_cast<double>(std::ranges::count_if(targets, is_scored));
    return args;
}

void run(Executor& executor, ExecutionObserver& observer, const RunArgs& args) {
    executor.observe(observer);
    executor.run(Phase::step, args);
    executor.run(Phase::update, args);
    executor.stop_observing(observer);
}

/// What the plain loops in double make of a case.
Record reference_record(const Config& config, const PlanCase& plan_case, const KernelCheckOptions& options) {
    const ExecutionPlan rounded = make_plan(config, plan_case, options, Isa::reference, DType::f32);
    ModelRuntime runtime = make_runtime(config, make_plan(config, plan_case, options, Isa::reference, DType::f64));
    Executor& executor = runtime.executor(to_string(plan_case.mode));
    Recorder recorder(executor, rounded);
    run(executor, recorder, prepare(runtime, executor, config, options.seed));
    return std::move(recorder).take();
}

void check_case(const Config& config, const PlanCase& plan_case, const Record& record,
                const KernelCheckOptions& options, KernelCheck& check) {
    ModelRuntime runtime = make_runtime(config, make_plan(config, plan_case, options, check.isa, DType::f32));
    Executor& executor = runtime.executor(to_string(plan_case.mode));
    Comparer comparer(executor, record, plan_case.name(), options.tolerance, check.ops);
    run(executor, comparer, prepare(runtime, executor, config, options.seed));
}

}  // namespace

bool KernelCheck::passed() const { return !ops.empty() && std::ranges::all_of(ops, &OpCheck::passed); }

std::vector<KernelCheck> check_kernels(const Config& config, const std::vector<Isa>& isas,
                                       const KernelCheckOptions& options) {
    std::vector<KernelCheck> checks;
    for (Isa isa : isas) checks.push_back({isa, {}});
    for (const PlanCase& plan_case : plan_cases) {
        const Config small = check_config(config, plan_case.attention);
        const Record record = reference_record(small, plan_case, options);
        for (KernelCheck& check : checks) check_case(small, plan_case, record, options, check);
    }
    return checks;
}

KernelCheck check_kernels(const Config& config, Isa isa, const KernelCheckOptions& options) {
    return check_kernels(config, std::vector{isa}, options).front();
}

std::string kernel_check_text(const std::vector<KernelCheck>& checks) {
    std::vector<TextTable::Column> columns{{"op"}, {"nodes", TextTable::Align::right}};
    for (const KernelCheck& check : checks) {
        columns.push_back({std::string(to_string(check.isa)), TextTable::Align::right});
    }
    columns.push_back({""});
    TextTable table(columns);
    std::string failures;
    for (std::size_t i = 0; !checks.empty() && i < checks[0].ops.size(); ++i) {
        std::vector<std::string> row{checks[0].ops[i].op, fmt::format("{}", checks[0].ops[i].nodes)};
        bool passed = true;
        for (const KernelCheck& check : checks) {
            const auto op = std::ranges::find(check.ops, checks[0].ops[i].op, &OpCheck::op);
            row.push_back(op == check.ops.end() ? "-" : fmt::format("{:.3f}", op->tolerances));
            if (op == check.ops.end() || op->passed()) continue;
            passed = false;
            failures += fmt::format("{} on {} is {:.3g} tolerances off in {}\n", op->op, to_string(check.isa),
                                    op->tolerances, op->worst);
        }
        row.push_back(passed ? "ok" : "FAILED");
        table.add(std::move(row));
    }
    return fmt::format("largest error of each op in units of its tolerance, against plain loops in f64\n{}{}",
                       table.str(), failures);
}

}  // namespace causeway
