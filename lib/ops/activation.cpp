#include "ops/activation.hpp"
#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// gelu: y = x Phi(x), or its tanh approximation (Hendrycks, Gimpel 2016);  dx = dy (Phi(x) + x phi(x)).
// silu: y = x s(x), s(x) = 1 / (1 + exp(-x));  dx = dy (s + x s (1 - s)).   relu: y = max(x, 0);  dx = dy where x > 0.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    activation_of(node.attributes);
    return {{"", input_desc(graph, node, 0), Role::activation, -1, 0}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 20); }

void backward(BackwardContext& context) {
    const ValueId dy = context.output_gradient(0);
    if (!dy || !context.wants_gradient(0)) return;
    context.give_gradient(0, context.graph().emit(activation_backward(), context.node().name + ".backward",
                                                  {context.node().input(0), dy}, context.node().attributes));
}

void lower(LowerContext& context) {
    const Cut cut = cut_elements(context.out_shape().elements());
    const kernels::Activation kind = activation_of(context.attributes());
    const BufferRef x = context.in(0), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.elementwise.activation_forward;
        context.stage("", cut.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(kind, run.at<const T>(x), run.at<T>(y), cut.begin(begin), cut.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    require(x.shape == input_desc(graph, node, 1).shape,
            fmt::format("x {} and dy {} must have one shape", shape_text(graph, node, 0), shape_text(graph, node, 1)));
    return {{"", x, Role::activation, -1, 1}};
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 30); }

void lower_backward(LowerContext& context) {
    const Cut cut = cut_elements(context.out_shape().elements());
    const kernels::Activation kind = activation_of(context.attributes());
    const BufferRef x = context.in(0), dy = context.in(1), dx = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.elementwise.activation_backward;
        context.stage("", cut.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(kind, run.at<const T>(x), run.at<const T>(dy), run.at<T>(dx), cut.begin(begin),
                                 cut.begin(end));
                      });
    });
}

}  // namespace

kernels::Activation activation_of(const Attributes& attributes) {
    const std::string& name = attributes.get<std::string>("activation");
    if (name == "none") return kernels::Activation::none;
    if (name == "gelu") return kernels::Activation::gelu_erf;
    if (name == "gelu_new") return kernels::Activation::gelu_tanh;
    if (name == "silu") return kernels::Activation::silu;
    require(name == "relu", fmt::format("unknown activation '{}'; expected none, gelu, gelu_new, silu or relu", name));
    return kernels::Activation::relu;
}

const OpDef& activation() {
    static const OpDef def{"activation", "gelu, silu or relu, element by element", infer, backward, cost, nullptr,
                           lower};
    return def;
}

const OpDef& activation_backward() {
    static const OpDef def{"activation_backward", "dy times the derivative of the activation",
                           infer_backward,        nullptr,
                           backward_cost,         nullptr,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
