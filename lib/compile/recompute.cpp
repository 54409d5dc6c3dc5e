#include <algorithm>

#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

/// Index of the node after the one that makes `id`: 0 for what has no producer.
std::size_t end_of_producer(const Graph& graph, ValueId id) {
    return static_cast<std::size_t>(graph.value(id).producer.index + 1);
}

bool is_attention(const Node& node) { return node.op == &ops::attention() || node.op == &ops::attention_explicit(); }

/// Copies the graph and puts a second copy of forward nodes before what reads their results in the backward pass. The
/// first copy's results then die in the forward pass.
class Recomputation {
  public:
    Recomputation(const Graph& graph, Recompute choice) : rewriter_(graph), graph_(graph) {
        again_.resize(graph.values().size());
        made_again_.resize(graph.values().size());
        find_blocks();
        for (std::size_t i = blocks_begin_; i < blocks_end_; ++i) mark(graph.nodes()[i]);
        for (std::size_t i = blocks_begin_; choice == Recompute::attention_free && i < blocks_end_; ++i) {
            if (is_attention(graph.nodes()[i])) keep_attention(graph.nodes()[i]);
        }
    }

    Graph run() && {
        for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
            const Node& node = graph_.nodes()[i];
            if (i < blocks_end_) {
                rewriter_.copy(node);
                continue;
            }
            Node reader = node;
            reader.inputs = made_again(node.inputs);
            reader.outputs = rewriter_.outputs(node);
            rewriter_.to().copy_node(std::move(reader));
        }
        return std::move(rewriter_).finish();
    }

  private:
    /// The blocks lie between the first and the last boundary; what follows the last one only reads their results.
    void find_blocks() {
        blocks_begin_ = graph_.nodes().size();
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(graph_.values().size()); ++i) {
            if (!graph_.value({i}).block_boundary) continue;
            blocks_begin_ = std::min(blocks_begin_, end_of_producer(graph_, {i}));
            blocks_end_ = std::max(blocks_end_, end_of_producer(graph_, {i}));
        }
    }

    /// A boundary stays, with what its node makes beside it (a norm's mean and rstd, a number a row).
    void mark(const Node& node) {
        const bool boundary =
            std::ranges::any_of(node.outputs, [&](ValueId id) { return graph_.value(id).block_boundary; });
        for (ValueId output : node.outputs) again_[at(output)] = !boundary;
    }

    void keep_attention(const Node& attention) {
        for (ValueId input : attention.inputs) {
            if (input) again_[at(input)] = false;  // masks may be absent
        }
        for (ValueId output : attention.outputs) again_[at(output)] = false;
    }

    /// The new graph's values for a reader in the backward pass; those that are missing are made here, as late as
    /// possible.
    std::vector<ValueId> made_again(const std::vector<ValueId>& old) {
        std::vector<ValueId> ids;
        for (ValueId id : old) ids.push_back(id && again_[at(id)] ? made_again(id) : rewriter_.value(id));
        return ids;
    }

    ValueId made_again(ValueId old) {
        if (!made_again_[at(old)]) {
            const Node& node = graph_.node(graph_.value(old).producer);
            const NodeId copy = rewriter_.to().add_node(*node.op, node.name + ".recomputed", made_again(node.inputs),
                                                        node.attributes, node.phase);
            for (std::size_t i = 0; i < node.outputs.size(); ++i) {
                made_again_[at(node.outputs[i])] = rewriter_.to().node(copy).outputs[i];
            }
        }
        return made_again_[at(old)];
    }

    GraphRewriter rewriter_;
    const Graph& graph_;
    std::size_t blocks_begin_ = 0, blocks_end_ = 0;
    std::vector<bool> again_;          ///< by old value: backward reads a second copy of it
    std::vector<ValueId> made_again_;  ///< by old value: the second copy in the new graph, once it is there
};

}  // namespace

Graph recompute(const Graph& graph, Recompute choice) {
    return choice == Recompute::none ? graph : Recomputation(graph, choice).run();
}

}  // namespace causeway
