#pragma once

#include <cmath>
#include <span>

#include "ops/lowering.hpp"
#include "plan/update_factors.hpp"

// What the optimizers' ops share: one parameter, its packed copy and its states renewed in place, tile by tile. Where
// the GEMMs read a packed copy of the parameter, each panel is packed anew while its rows are in cache.

namespace causeway::ops {

/// The inputs of every optimizer's op.
enum UpdateInput : std::size_t {
    update_param,
    update_gradient,
    update_factors_input,
    update_packed,  ///< the packed copy of form nt, or absent
    update_first_state,
};

/// Shape rule: outputs are the parameter, the states that are given, under these suffixes, and the packed copy.
std::vector<OutputSpec> infer_update(const Graph& graph, const Node& node, std::span<const char* const> states);

/// So many FLOPs an element; reads parameter, gradient and states, writes all but the gradient, and the packed copy.
Cost update_cost(const Graph& graph, const Node& node, double flops_per_element);

/// The elements a tile updates, and with a packed copy the panels they make up: whole rows, `panel_rows` a panel, those
/// of one matrix after those of the other.
struct UpdateTiles {
    explicit UpdateTiles(const LowerContext& context);

    Cut cut;  ///< of elements, or of panels
    std::int64_t panel_rows = 0;
    std::int64_t panels = 0;  ///< of a matrix
    std::int64_t rows = 0, cols = 0;
    std::int64_t packed_matrix = 0;  ///< elements of a matrix's packed copy
    bool streams = false;            ///< an update writes more than caches hold: copies leave them before they are read
};

/// Appends the node's one step: update(args_of(run, factors), begin, end) on elements [begin, end), unless the factors
/// say that the update is left out. args_of(run, factors) gives the kernel's arguments for one run.
template <class T, class Args, class ArgsOf>
void lower_update(LowerContext& context, const kernels::KernelTable<T>& table, const UpdateTiles& tiles, Cost cost,
                  void (*update)(const Args&, std::int64_t, std::int64_t), ArgsOf args_of) {
    const BufferRef factors = context.in(update_factors_input), packed = context.in(update_packed);
    const auto pack = tiles.streams ? table.gemm.pack_nt_streaming : table.gemm.pack_nt;
    context.stage("", tiles.cut.tiles(), cost, [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
        const double* factor = run.at<const double>(factors);
        if (std::isnan(factor[update_scale])) return;
        const Args args = args_of(run, factor);
        if (!packed) return update(args, tiles.cut.begin(begin), tiles.cut.begin(end));
        for (std::int64_t i = tiles.cut.begin(begin); i < tiles.cut.begin(end); ++i) {
            const std::int64_t matrix = i / tiles.panels, panel = i % tiles.panels;
            const std::int64_t row = panel * tiles.panel_rows, last = std::min(row + tiles.panel_rows, tiles.rows);
            const std::int64_t first_element = matrix * tiles.rows * tiles.cols;
            update(args, first_element + row * tiles.cols, first_element + last * tiles.cols);
            pack(args.param + first_element, tiles.cols, tiles.rows, tiles.cols,
                 run.at<T>(packed) + matrix * tiles.packed_matrix, panel, panel + 1);
        }
    });
}

}  // namespace causeway::ops
