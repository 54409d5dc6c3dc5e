#include "compile/compile.hpp"

#include <array>

#include "compile/lower.hpp"
#include "compile/passes.hpp"
#include "compile/schedule.hpp"
#include "model/causal_lm.hpp"

namespace causeway {
namespace {

KernelTables choose_kernels(const Config& config, const CompileOptions& options) {
    if (options.dtype == DType::f64) return {nullptr, &kernels::reference_table<double>()};
    return {&kernels::kernel_table(options.isa ? *options.isa : choose_isa(config.runtime.isa)), nullptr};
}

Head head_of(Mode mode) {
    if (mode == Mode::train || mode == Mode::eval) return Head::loss;
    return mode == Mode::prefill ? Head::position_logits : Head::logits;
}

CausalLmOptions model_options(const Config& config, const CompileOptions& options) {
    CausalLmOptions model;
    model.batch = options.batch > 0 ? options.batch : config.train.batch_size;
    model.sequence_length = options.sequence_length > 0 ? options.sequence_length : config.train.sequence_length;
    model.dtype = options.dtype;
    model.attention = options.mode == Mode::inspect ? AttentionPath::explicit_weights : config.runtime.attention;
    model.head = head_of(options.mode);
    model.balance_experts = options.mode == Mode::train || options.balance_experts;
    model.dropout = options.dropout.value_or(options.mode == Mode::train);
    model.attention_mask = options.attention_mask;
    model.mask = options.mask;
    return model;
}

Graph fuse(Graph graph, const RuntimeConfig& runtime, const KernelTables& tables) {
    if (runtime.fuse_loss) graph = fuse_loss(graph);
    if (runtime.fuse_epilogue) graph = fuse_epilogue(graph);
    if (runtime.fuse_norm_residual) graph = fuse_norm_residual(graph);
    if (runtime.fuse_gradient_norm) graph = fuse_gradient_norm(graph, tables);
    return graph;
}

}  // namespace

ExecutionPlan compile(const Config& config, const CompileOptions& options, SharedLayout& shared) {
    const KernelTables tables = choose_kernels(config, options);
    const bool inspect = options.mode == Mode::inspect;
    const bool keep_values = options.keep_values || inspect;
    const bool reuse = config.runtime.memory_reuse && !keep_values;

    Graph graph = build_causal_lm(config.model, model_options(config, options));
    if (options.mode == Mode::train) {
        graph = recompute(emit_backward(std::move(graph), "loss"), config.train.recompute);
        graph = emit_update(std::move(graph), config.train);
    }
    if (options.fuse && !inspect) graph = fuse(std::move(graph), config.runtime, tables);
    graph = pack_weights(graph, tables);
    verify(graph);

    const Schedule schedule = schedule_nodes(graph);
    const Placement placement = plan_memory(graph, schedule, workspace_sizes(graph, tables), reuse, shared);
    ExecutionPlan plan = lower(graph, schedule, placement, tables);
    plan.mode = to_string(options.mode);
    plan.memory_reuse = config.runtime.memory_reuse || keep_values;  // without it, dead values are poisoned
    plan.memory.region_bytes = {shared.bytes(Region::parameters), shared.bytes(Region::state), placement.scratch_bytes};
    plan.memory.scratch_without_reuse = placement.scratch_without_reuse;
    return plan;
}

std::string_view to_string(Mode mode) {
    constexpr std::array<std::string_view, 5> names{"train", "eval", "logits", "prefill", "inspect"};
    return names[static_cast<std::size_t>(mode)];
}

}  // namespace causeway
