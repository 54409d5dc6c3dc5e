#include <memory>

#include "base/format.hpp"
#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "families.hpp"
#include "ops/ops.hpp"
#include "support/bench.hpp"
#include "support/gemm.hpp"
#include "support/graph_plan.hpp"

namespace causeway::bench {
namespace {

struct Size {
    std::int64_t rows, vocab, dim;
};
constexpr Size gpt2{256, 50257, 768};

ValueId add_input(Graph& graph, const char* name, std::int64_t rows) {
    Value value;
    value.name = name;
    value.desc = {DType::i32, {1, rows}};
    value.role = Role::input;
    return graph.add_value(std::move(value));
}

ValueId add_parameter(Graph& graph, const char* name, const Shape& shape) {
    Value value;
    value.name = name;
    value.desc = {DType::f32, shape};
    value.role = Role::parameter;
    value.trainable = true;
    value.initializer = {Initializer::Kind::uniform, 0.1};
    return graph.add_value(std::move(value));
}

/// loss(h W^T) and both gradients, as the compiler makes them for a model. h comes from a table of as many rows, whose
/// gradient is next to nothing beside the head's.
Graph head_graph(Size size) {
    Graph graph;
    const ValueId table = add_parameter(graph, "table", {size.rows, size.dim});
    const ValueId weight = add_parameter(graph, "weight", {size.vocab, size.dim});
    const ValueId h = graph.emit(ops::embedding(), "h", {add_input(graph, "tokens", size.rows), table});
    graph.emit(ops::lm_head_loss(), "loss", {h, weight, ValueId{}, add_input(graph, "targets", size.rows)});
    return fuse_loss(emit_backward(std::move(graph), "loss"));
}

/// The weight is packed before the time starts: a training step packs it after the update. MiB is the scratch memory,
/// most of it the logits of one chunk of rows.
Run make_head(Size size) {
    std::vector<ExecutionPlan> plans;
    plans.push_back(test::plan_of(head_graph(size), {&kernels(), nullptr}));
    const auto runtime = std::make_shared<ModelRuntime>(std::move(plans), setup().threads);
    runtime->initialize(1);
    Executor& executor = runtime->executor("test");
    const auto tokens = executor.values<std::int32_t>("tokens"), targets = executor.values<std::int32_t>("targets");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        tokens[i] = static_cast<std::int32_t>(i);
        targets[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 197 % size.vocab);
    }
    runtime->refresh();
    const auto bytes = static_cast<double>(executor.plan().memory.region_bytes[static_cast<int>(Region::scratch)]);
    return {[runtime, &executor] { executor.run(Phase::step, {}); }, bytes};
}

/// The three products of the head and nothing else, all logits at once, on the same kind of operands.
struct HeadProducts {
    explicit HeadProducts(Size its_size)
        : size(its_size),
          ld(round_up(size.vocab, 16)),
          h(random_floats(size.rows * size.dim, 1)),
          weight(random_floats(size.vocab * size.dim, 2)),
          logits(zero_floats(size.rows * ld)),
          dh(zero_floats(size.rows * size.dim)),
          dweight(zero_floats(size.vocab * size.dim)),
          packed_nt(packed_if_wanted(GemmForm::nt, size.rows, weight.data(), size.vocab, size.dim)),
          packed_nn(packed_if_wanted(GemmForm::nn, size.rows, weight.data(), size.dim, size.vocab)) {}

    void run() {
        const auto [rows, vocab, dim] = size;
        multiply(GemmForm::nt,
                 {rows, vocab, dim, h.data(), dim, weight.data(), dim, data_or_null(packed_nt), logits.data(), ld});
        multiply(GemmForm::nn,
                 {rows, dim, vocab, logits.data(), ld, weight.data(), dim, data_or_null(packed_nn), dh.data(), dim});
        multiply(GemmForm::tn, {vocab, dim, rows, logits.data(), ld, h.data(), dim, nullptr, dweight.data(), dim});
    }

    using GemmForm = kernels::GemmForm;
    Size size;
    std::int64_t ld;
    Floats h, weight, logits, dh, dweight, packed_nt, packed_nn;
};

}  // namespace

/// The ratio of the two is what the loss costs beside its products.
void register_lm_head() {
    const std::string shape = fmt::format("f32/{}x{}x{}", gpt2.rows, gpt2.vocab, gpt2.dim);
    const auto [rows, vocab, dim] = gpt2;
    const std::int64_t operands = rows * vocab + rows * dim + vocab * dim;  // of each product
    const Work work{.flops = 6.0 * static_cast<double>(rows * vocab * dim),
                    .bytes = 3.0 * sizeof(float) * static_cast<double>(operands)};
    add_case("lm_head_ce_fwdbwd/" + shape, work, [] { return make_head(gpt2); });
    add_case("lm_head_gemms/" + shape, work,
             [] { return [products = std::make_shared<HeadProducts>(gpt2)] { products->run(); }; });
}

}  // namespace causeway::bench
