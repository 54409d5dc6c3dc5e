#include <fmt/format.h>

#include <cmath>

#include "ops/lowering.hpp"
#include "ops/matrices.hpp"
#include "ops/ops.hpp"
#include "ops/update_factors.hpp"

// Adam with decoupled weight decay (Loshchilov, Hutter 2019, algorithm 2). Where the GEMMs read a packed copy of the
// parameter, each panel is packed anew while its rows are in cache.

namespace causeway::ops {
namespace {

enum Input : std::size_t {
    param_input,
    gradient_input,
    m_input,
    v_input,
    factors_input,
    packed_input = adamw_packed_input
};

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& param = input_desc(graph, node, param_input);
    for (std::size_t i : {gradient_input, m_input, v_input}) {
        require(input_desc(graph, node, i).shape == param.shape,
                fmt::format("input {} is {}, the parameter {}", i, shape_text(graph, node, i),
                            shape_text(graph, node, param_input)));
    }
    const TensorDesc& factors = input_desc(graph, node, factors_input);
    require(factors.dtype == DType::f64 && factors.shape == Shape{update_factor_count},
            fmt::format("the factors must be f64 ({}), found {} {}", static_cast<int>(update_factor_count),
                        to_string(factors.dtype), to_string(factors.shape)));
    std::vector<OutputSpec> outputs{{"", param, Role::parameter, param_input},
                                    {"m", param, Role::state, m_input},
                                    {"v", param, Role::state, v_input}};
    if (node.input(packed_input)) {
        outputs.push_back({"packed", input_desc(graph, node, packed_input), Role::packed, packed_input});
    }
    return outputs;
}

Cost cost(const Graph& graph, const Node& node) {
    const TensorDesc& param = graph.value(node.input(param_input)).desc;
    const std::int64_t packed = node.input(packed_input) ? graph.value(node.input(packed_input)).desc.bytes() : 0;
    return {14 * static_cast<double>(param.shape.elements()), static_cast<double>(7 * param.bytes() + packed)};
}

/// The elements a tile updates, and with a packed copy the panels they make up: whole rows, `panel_rows` a panel, those
/// of one matrix after those of the other.
struct Tiles {
    Cut cut;  ///< of elements, or of panels
    std::int64_t panel_rows = 0;
    std::int64_t panels = 0;  ///< of a matrix
    std::int64_t rows = 0, cols = 0;
    std::int64_t packed_matrix = 0;  ///< elements of a matrix's packed copy

    template <class T>
    Tiles(const LowerContext& context, const kernels::KernelTable<T>& table)
        : cut(cut_elements(context.in_shape(param_input).elements())) {
        if (!context.node().input(packed_input)) return;
        const Matrices param(context.in_shape(param_input));
        rows = param.rows;
        cols = param.cols;
        panels = table.gemm.panels(rows);
        panel_rows = table.gemm.panel_columns;
        packed_matrix = table.gemm.packed_elements(rows, cols);
        cut = cut_rows(param.count * panels, panel_rows * cols);
    }
};

/// True when an update writes more than caches hold: a packed copy is then gone from them before a product reads it.
bool copies_leave_caches(const Graph& graph) {
    constexpr std::int64_t most_bytes = 8 << 20;  // with the parameters, gradients and moments 40 MiB
    std::int64_t bytes = 0;
    for (ValueId id : graph.with_role(Role::packed)) {
        if (graph.storage_of(id) == id) bytes += graph.value(id).desc.bytes();
    }
    return bytes > most_bytes;
}

template <class T>
TileFunction update_tiles(const LowerContext& context, const kernels::KernelTable<T>& table, const Tiles& tiles) {
    const Attributes& attributes = context.attributes();
    const double beta1 = attributes.get<double>("beta1"), beta2 = attributes.get<double>("beta2"),
                 eps = attributes.get<double>("eps"), weight_decay = attributes.get<double>("weight_decay");
    const BufferRef param = context.in(param_input), gradient = context.in(gradient_input), m = context.in(m_input),
                    v = context.in(v_input), factors = context.in(factors_input), packed = context.in(packed_input);
    const auto pack = copies_leave_caches(context.graph()) ? table.gemm.pack_nt_streaming : table.gemm.pack_nt;
    return [=, update = table.optimizer.adamw](const RunContext& run, std::int64_t begin, std::int64_t end) {
        const double* factor = run.at<const double>(factors);
        if (std::isnan(factor[update_scale])) return;
        const kernels::AdamWArgs<T> args{run.at<T>(param),
                                         run.at<const T>(gradient),
                                         run.at<T>(m),
                                         run.at<T>(v),
                                         run.args.learning_rate,
                                         beta1,
                                         beta2,
                                         eps,
                                         weight_decay,
                                         factor[update_bias1],
                                         factor[update_bias2],
                                         factor[update_scale]};
        if (!packed) return update(args, tiles.cut.begin(begin), tiles.cut.begin(end));
        for (std::int64_t i = tiles.cut.begin(begin); i < tiles.cut.begin(end); ++i) {
            const std::int64_t matrix = i / tiles.panels, panel = i % tiles.panels;
            const std::int64_t row = panel * tiles.panel_rows, last = std::min(row + tiles.panel_rows, tiles.rows);
            const std::int64_t first_element = matrix * tiles.rows * tiles.cols;
            update(args, first_element + row * tiles.cols, first_element + last * tiles.cols);
            pack(args.param + first_element, tiles.cols, tiles.rows, tiles.cols,
                 run.at<T>(packed) + matrix * tiles.packed_matrix, panel, panel + 1);
        }
    };
}

void lower(LowerContext& context) {
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const Tiles tiles(context, table);
        context.stage("", tiles.cut.tiles(), cost(context.graph(), context.node()),
                      update_tiles(context, table, tiles));
    });
}

}  // namespace

const OpDef& adamw() {
    static const OpDef def{
        "adamw", "AdamW update of one parameter and its packed copy, in place", infer, nullptr, cost, nullptr, lower};
    return def;
}

}  // namespace causeway::ops
