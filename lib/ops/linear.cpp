#include "base/format.hpp"
#include "ops/activation.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y = act(x W^T + b) + residual;  dx = dy W;  dW = dy^T x;  db = sum of dy over rows.
// The activation and the residual are there only after fusion, which comes after backward has been emitted; so is what
// the product for dW leaves of each of its tiles, the sum of its squares.

namespace causeway::ops {
namespace {

enum Input : std::size_t { x_input, weight_input, bias_input, packed_input, residual_input = linear_residual_input };

/// FLOPs of one product of (rows,K) and (N,K), and the bytes of all operands.
Cost gemm_cost(const Graph& graph, const Node& node, double rows, const Shape& weight) {
    Cost cost = streaming_cost(graph, node, 0);
    cost.flops = 2 * rows * static_cast<double>(weight.elements());
    return cost;
}

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, x_input);
    const TensorDesc& weight = input_desc(graph, node, weight_input);
    require(weight.shape.rank() == 2 && x.shape.rank() >= 1 && x.shape.back() == weight.shape[1],
            fmt::format("x must be (...,K) and the weight (N,K), found {} and {}", shape_text(graph, node, x_input),
                        shape_text(graph, node, weight_input)));
    if (node.input(bias_input)) {
        require(input_desc(graph, node, bias_input).shape == Shape{weight.shape[0]},
                fmt::format("the bias must be ({}), found {}", weight.shape[0], shape_text(graph, node, bias_input)));
    }
    std::vector<std::int64_t> extents(x.shape.extents().begin(), x.shape.extents().end());
    extents.back() = weight.shape[0];
    const TensorDesc y{x.dtype, Shape(extents)};
    std::vector<OutputSpec> outputs{{"", y}};
    if (node.input(residual_input)) {
        require(input_desc(graph, node, residual_input).shape == y.shape,
                fmt::format("the residual must be {}, found {}", to_string(y.shape),
                            shape_text(graph, node, residual_input)));
        outputs[0].may_reuse_input = residual_input;
    }
    if (node.attributes.has("keep_pre_activation") && node.attributes.get<bool>("keep_pre_activation")) {
        outputs.push_back({"pre_activation", y});  // the activation's backward reads it
    }
    return outputs;
}

Cost cost(const Graph& graph, const Node& node) {
    const double rows = static_cast<double>(graph.shape(node.outputs[0]).rows());
    return gemm_cost(graph, node, rows, graph.shape(node.input(weight_input)));
}

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    const ValueId weight_gradient = context.gradient_to_update(weight_input);
    const ValueId bias_gradient = context.gradient_to_update(bias_input);
    if (weight_gradient) {
        const NodeId id = context.graph().add_node(linear_weight_gradient(), node.name + ".weight_gradient",
                                                   {dy, node.input(x_input), weight_gradient, bias_gradient});
        const std::vector<ValueId> outputs = context.graph().node(id).outputs;
        context.gradient_updated(weight_input, outputs[0]);
        if (bias_gradient) context.gradient_updated(bias_input, outputs[1]);
    }
    if (context.wants_gradient(x_input)) {
        context.give_gradient(x_input, context.graph().emit(linear_input_gradient(), node.name + ".input_gradient",
                                                            {dy, node.input(weight_input)}));
    }
}

std::vector<WeightUse> weights(const Graph& graph, const Node& node) {
    return {{weight_input, packed_input, true, graph.shape(node.outputs[0]).rows()}};
}

void lower(LowerContext& context) {
    const Shape& weight = context.in_shape(weight_input);
    const std::int64_t m = context.out_shape().rows(), n = weight[0], k = weight[1];
    const kernels::Activation activation = activation_of(context.attributes());
    const BufferRef x = context.in(x_input), w = context.in(weight_input), bias = context.in(bias_input),
                    packed = context.in(packed_input), residual = context.in(residual_input);
    const BufferRef y = context.out(0), pre_activation = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.gemm.nt;
        context.stage(
            "", table.gemm.tiling(kernels::GemmForm::nt, m, n, k).tiles(), cost(context.graph(), context.node()),
            [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                kernels::GemmArgs<T> args{
                    m, n, k, run.at<const T>(x), k, run.at<const T>(w), k, run.at<const T>(packed), run.at<T>(y), n};
                args.epilogue.bias = run.at<const T>(bias);
                args.epilogue.activation = activation;
                args.epilogue.pre_activation = run.at<T>(pre_activation);
                args.epilogue.residual = run.at<const T>(residual);
                kernel(args, begin, end);
            });
    });
}

std::vector<OutputSpec> infer_input_gradient(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, 0);
    const TensorDesc& weight = input_desc(graph, node, 1);
    require(weight.shape.rank() == 2 && dy.shape.back() == weight.shape[0],
            fmt::format("dy must be (...,N) and the weight (N,K), found {} and {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1)));
    std::vector<std::int64_t> extents(dy.shape.extents().begin(), dy.shape.extents().end());
    extents.back() = weight.shape[1];
    return {{"", {dy.dtype, Shape(extents)}}};
}

Cost input_gradient_cost(const Graph& graph, const Node& node) {
    const double rows = static_cast<double>(graph.shape(node.input(0)).rows());
    return gemm_cost(graph, node, rows, graph.shape(node.input(1)));
}

std::vector<WeightUse> input_gradient_weights(const Graph& graph, const Node& node) {
    return {{1, 2, false, graph.shape(node.outputs[0]).rows()}};
}

void lower_input_gradient(LowerContext& context) {
    const Shape& weight = context.in_shape(1);
    const std::int64_t m = context.in_shape(0).rows(), n = weight[1], k = weight[0];
    const BufferRef dy = context.in(0), w = context.in(1), packed = context.in(2), dx = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.gemm.nn;
        context.stage("", table.gemm.tiling(kernels::GemmForm::nn, m, n, k).tiles(),
                      input_gradient_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({m, n, k, run.at<const T>(dy), k, run.at<const T>(w), n, run.at<const T>(packed),
                                  run.at<T>(dx), n},
                                 begin, end);
                      });
    });
}

std::vector<OutputSpec> infer_weight_gradient(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, 0);
    const TensorDesc& x = input_desc(graph, node, 1);
    const TensorDesc& gradient = input_desc(graph, node, 2);
    require(gradient.shape == Shape({dy.shape.back(), x.shape.back()}) && dy.shape.rows() == x.shape.rows(),
            fmt::format("dy {} and x {} do not fit the weight's gradient {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1), shape_text(graph, node, 2)));
    std::vector<OutputSpec> outputs{{"", gradient, Role::gradient, 2}};
    if (node.input(3)) outputs.push_back({"bias", input_desc(graph, node, 3), Role::gradient, 3});
    if (node.attributes.has("square_sums")) {
        outputs.push_back({"square_sum", {DType::f64, {node.attributes.get<std::int64_t>("square_sums")}}});
    }
    return outputs;
}

Cost weight_gradient_cost(const Graph& graph, const Node& node) {
    const Shape& gradient = graph.shape(node.outputs[0]);
    Cost cost = gemm_cost(graph, node, static_cast<double>(graph.shape(node.input(0)).rows()), gradient);
    if (node.attributes.has("square_sums")) cost.flops += 2 * static_cast<double>(gradient.elements());
    return cost;
}

std::int64_t weight_gradient_tiles(const LowerContext& context) {
    const Shape& gradient = context.out_shape();
    return context.with_table([&](const auto& table) {
        return table.gemm.tiling(kernels::GemmForm::tn, gradient[0], gradient[1], context.in_shape(0).rows()).tiles();
    });
}

void lower_weight_gradient(LowerContext& context) {
    const Shape& gradient = context.out_shape();
    const std::int64_t m = gradient[0], n = gradient[1], k = context.in_shape(0).rows();
    const bool first = context.first_write(2);
    const bool sums_squares = context.attributes().has("square_sums");
    const BufferRef dy = context.in(0), x = context.in(1), dw = context.out(0),
                    db = context.in(3) ? context.out(1) : BufferRef{},
                    squares = sums_squares ? context.out(context.node().outputs.size() - 1) : BufferRef{};
    const std::int64_t tiles = weight_gradient_tiles(context);
    require(!sums_squares || context.out_shape(context.node().outputs.size() - 1).elements() == tiles,
            fmt::format("{} tiles do not fit the room for their sums of squares, {}", tiles,
                        to_string(context.out_shape(context.node().outputs.size() - 1))));
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.gemm.tn;
        context.stage("", tiles, weight_gradient_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernels::GemmArgs<T> args{
                              m, n, k, run.at<const T>(dy), m, run.at<const T>(x), n, nullptr, run.at<T>(dw), n};
                          args.accumulate = !first || run.args.accumulate;
                          args.epilogue.a_sums = run.at<T>(db);
                          args.epilogue.square_sums = run.at<double>(squares);
                          kernel(args, begin, end);
                      });
    });
}

}  // namespace

const OpDef& linear() {
    static const OpDef def{
        "linear", "x W^T + b, with activation and residual when fused", infer, backward, cost, nullptr, lower, weights};
    return def;
}

const OpDef& linear_input_gradient() {
    static const OpDef def{"linear_input_gradient", "dx = dy W", infer_input_gradient, nullptr,
                           input_gradient_cost,     nullptr,     lower_input_gradient, input_gradient_weights};
    return def;
}

const OpDef& linear_weight_gradient() {
    static const OpDef def{"linear_weight_gradient", "dW += dy^T x, db += sum of dy",
                           infer_weight_gradient,    nullptr,
                           weight_gradient_cost,     nullptr,
                           lower_weight_gradient,    nullptr,
                           weight_gradient_tiles};
    return def;
}

}  // namespace causeway::ops
