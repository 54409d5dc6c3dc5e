#include "graph/graph.hpp"

#include "causeway/error.hpp"
#include "graph/op_def.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// y = x, for graphs that nobody runs.
std::vector<OutputSpec> infer_copy(const Graph& graph, const Node& node) {
    return {{"", graph.value(node.input(0)).desc}};
}
const OpDef copy{"copy", "y = x", infer_copy};

/// Writes over its input.
std::vector<OutputSpec> infer_update(const Graph& graph, const Node& node) {
    return {{"", graph.value(node.input(0)).desc, Role::state, 0}};
}
const OpDef update{"update", "x = x + 1", infer_update};

ValueId add_input(Graph& graph, const char* name) {
    Value value;
    value.name = name;
    value.desc = {DType::f32, {2, 3}};
    value.role = Role::state;
    return graph.add_value(std::move(value));
}

}  // namespace

TEST_CASE("A graph names the outputs of a node and remembers their producer") {
    Graph graph;
    const ValueId x = add_input(graph, "x");
    const ValueId y = graph.emit(copy, "y", {x});
    CHECK(graph.value(y).name == "y");
    CHECK(graph.node(graph.value(y).producer).op == &copy);
    CHECK(graph.find("y") == y);
    CHECK_FALSE(graph.find("z"));
    CHECK_NOTHROW(verify(graph));
}

TEST_CASE("The verifier refuses a value read after a newer version has replaced it") {
    Graph graph;
    const ValueId x = add_input(graph, "x");
    const ValueId newer = graph.emit(update, "newer", {x});
    CHECK(graph.storage_of(newer) == x);
    graph.emit(copy, "late", {x});
    CHECK_THROWS_MESSAGE(verify(graph), GraphError, "node 'late' (copy) reads 'x', whose memory holds 'newer' by then");
}

TEST_CASE("The verifier refuses a value read before it is written") {
    Graph graph;
    const ValueId x = add_input(graph, "x");
    const ValueId y = graph.emit(copy, "y", {x});
    Graph reversed;
    for (const Value& value : graph.values()) reversed.add_value(value);
    Node reader{&copy, "early", {y}, {reversed.add_value(graph.value(y))}, {}, Phase::step};
    reversed.copy_node(reader);
    reversed.copy_node(graph.nodes()[0]);
    CHECK_THROWS_MESSAGE(verify(reversed), GraphError, "node 'early' (copy) reads 'y' before it is written");
}

TEST_CASE("The verifier refuses outputs that disagree with the shape rule") {
    Graph graph;
    const ValueId x = add_input(graph, "x");
    const ValueId y = graph.emit(copy, "y", {x});
    graph.value(y).desc = {DType::f32, {3, 2}};
    CHECK_THROWS_MESSAGE(verify(graph), GraphError, "output 'y' is f32 (3, 2), its shape rule gives f32 (2, 3)");
    graph.value(y).desc = graph.value(x).desc;
    graph.value(y).desc.stored_elements = 5;
    CHECK_THROWS_MESSAGE(verify(graph), GraphError,
                         "is f32 (2, 3) logical in 5 elements, its shape rule gives f32 (2, 3)");
    graph.value(y).desc = graph.value(x).desc;
    graph.value(y).desc.layout = Layout::packed_nn;
    CHECK_THROWS_MESSAGE(verify(graph), GraphError, "is f32 (2, 3) packed_nn in 6 elements, its shape rule gives");
}

TEST_CASE("Attributes are typed and keep their order") {
    Attributes attributes{{"heads", std::int64_t{4}}, {"causal", true}};
    attributes.set("scale", 0.5);
    attributes.set("heads", std::int64_t{8});
    CHECK(attributes.get<std::int64_t>("heads") == 8);
    CHECK(attributes.get<bool>("causal"));
    CHECK(attributes.entries().size() == 3);
    CHECK(to_string(attributes.entries()[2].second) == "0.5");
    CHECK_THROWS_MESSAGE(attributes.get<double>("heads"), GraphError, "lacks the attribute 'heads'");
    CHECK_THROWS_MESSAGE(attributes.get<double>("eps"), GraphError, "lacks the attribute 'eps'");
}

TEST_CASE("A shape has at most four extents and refuses an overflow of its elements") {
    CHECK(Shape({2, 5, 64}).elements() == 640);
    CHECK(Shape({2, 5, 64}).rows() == 10);
    CHECK(Shape{}.elements() == 1);
    CHECK(to_string(Shape({2, 5, 64})) == "(2, 5, 64)");
    CHECK_THROWS_MESSAGE(Shape({1, 1, 1, 1, 1}), GraphError, "at most 4 extents");
    CHECK_THROWS_MESSAGE(Shape({2, -1}), GraphError, "is negative: -1");
    CHECK_THROWS_MESSAGE(Shape({1LL << 40, 1LL << 40}).elements(), GraphError, "too many elements");
}
