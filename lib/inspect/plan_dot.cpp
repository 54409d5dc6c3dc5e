#include <map>

#include "base/format.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/plan_view.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

/// A text inside a quoted DOT string.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

class DotWriter {
  public:
    explicit DotWriter(const PlanView& view) : view_(view), plan_(view.plan()) {
        for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
            for (std::int32_t output : plan_.nodes[n].outputs) producer_[output] = n;
        }
    }

    std::string write() && {
        out_ = fmt::format("digraph {} {{\n", quoted("plan " + plan_.mode));
        out_ +=
            "  rankdir=TB;\n  node [fontname=\"sans-serif\", fontsize=10, shape=box, style=\"rounded,filled\", "
            "fillcolor=\"#eef3f8\"];\n  edge [fontname=\"sans-serif\", fontsize=8, color=\"#62707d\"];\n";
        for (Phase phase : all_phases) cluster(phase);
        for (std::size_t i = 0; i < plan_.values.size(); ++i) source(static_cast<std::int32_t>(i));
        for (std::size_t n = 0; n < plan_.nodes.size(); ++n) edges(n);
        return out_ + "}\n";
    }

  private:
    void cluster(Phase phase) {
        std::string nodes;
        for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
            const PlannedNode& node = plan_.nodes[n];
            if (view_.phase_of_group(node.first_group) != phase) continue;
            const std::string label = node.attributes.empty() ? "" : "\n" + node.attributes;
            nodes += fmt::format("    n{} [label={}];\n", n, quoted_lines(node.name + "\n" + node.op + label));
        }
        if (nodes.empty()) return;
        out_ += fmt::format(
            "  subgraph cluster_{0} {{\n    label=\"{0}\"; fontname=\"sans-serif\"; color=\"#c3ccd5\";\n{1}"
            "  }}\n",
            to_string(phase), nodes);
    }

    /// What no node makes: inputs, parameters, constants, the first versions of gradients and moments.
    void source(std::int32_t index) {
        if (producer_.contains(index)) return;
        const PlannedValue& value = view_.value(index);
        out_ += fmt::format("  v{} [label={}, shape=ellipse, fillcolor=\"{}\"];\n", index,
                            quoted_lines(value.name + "\n" + compact_text(value.desc.shape)),
                            value.role == Role::input ? "#fdf2d0" : "#e4f2e4");
    }

    void edges(std::size_t n) {
        for (std::int32_t input : plan_.nodes[n].inputs) {
            if (input < 0) continue;
            const auto producer = producer_.find(input);
            if (producer == producer_.end()) {
                out_ += fmt::format("  v{} -> n{};\n", input, n);
            } else {
                out_ += fmt::format("  n{} -> n{} [label=\"{}\"];\n", producer->second, n,
                                    compact_text(view_.value(input).desc.shape));
            }
        }
    }

    /// The same with line breaks as DOT's \n.
    static std::string quoted_lines(const std::string& text) {
        std::string out;
        for (char c : quoted(text)) out += c == '\n' ? std::string("\\n") : std::string(1, c);
        return out;
    }

    const PlanView& view_;
    const ExecutionPlan& plan_;
    std::map<std::int32_t, std::size_t> producer_;  ///< value -> node
    std::string out_;
};

}  // namespace

std::string plan_dot(const ExecutionPlan& plan) {
    const PlanView view(plan);
    return DotWriter(view).write();
}

}  // namespace causeway
