#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/matrices.hpp"
#include "ops/ops.hpp"

// A copy of a weight (N,K), or of each expert's in (E,N,K), in the panels that the plan's GEMM reads: form "nt" for
// y = x W^T, "nn" for dx = dy W. Input 1, when given, is an older copy that is written over.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& weight = input_desc(graph, node, 0);
    require(weight.shape.rank() == 2 || weight.shape.rank() == 3,
            fmt::format("the weight must be (N,K) or (E,N,K), found {}", shape_text(graph, node, 0)));
    TensorDesc packed = weight;
    packed.layout = node.attributes.get<std::string>("form") == "nt" ? Layout::packed_nt : Layout::packed_nn;
    packed.stored_elements = node.attributes.get<std::int64_t>("stored_elements");
    return {{"", packed, Role::packed, node.input(1) ? 1 : -1}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 0); }

void lower(LowerContext& context) {
    const Matrices weight(context.in_shape(0));
    const bool nt = context.attributes().get<std::string>("form") == "nt";
    const std::int64_t n = nt ? weight.rows : weight.cols, k = nt ? weight.cols : weight.rows;
    const BufferRef w = context.in(0), packed = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = nt ? table.gemm.pack_nt : table.gemm.pack_nn;
        const std::int64_t panels = table.gemm.panels(n), packed_matrix = table.gemm.packed_elements(n, k);
        const Cut cut = cut_rows(panels, weight.elements() / std::max<std::int64_t>(1, panels));
        context.stage("", weight.count * cut.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          for (std::int64_t tile = begin; tile < end; ++tile) {
                              const std::int64_t matrix = tile / cut.tiles(), part = tile % cut.tiles();
                              kernel(run.at<const T>(w) + matrix * weight.elements(), weight.cols, n, k,
                                     run.at<T>(packed) + matrix * packed_matrix, cut.begin(part), cut.begin(part + 1));
                          }
                      });
    });
}

}  // namespace

const OpDef& pack_weight() {
    static const OpDef def{"pack_weight", "a weight in the layout the GEMM reads", infer, nullptr, cost, nullptr,
                           lower};
    return def;
}

}  // namespace causeway::ops
