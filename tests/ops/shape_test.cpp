#include "causeway/error.hpp"
#include "ops/op_cases.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::test;

TEST_CASE("Shape rules name the node, what is expected and what is found") {
    const CaseSize size{2, 5, 3, 4, 11};
    OpGraph g(size, DType::f32);
    const ValueId narrow = g.parameter("narrow", {7, 10});
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::linear(), "fc", {g.x(), narrow}, {{"activation", std::string("none")}}),
                         GraphError,
                         "node 'fc' (linear): x must be (...,K) and the weight (N,K), found (2, 5, 12) and (7, 10)");
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::add(), "sum", {g.x(), narrow}), GraphError,
                         "found (2, 5, 12) and (7, 10)");
    const ValueId short_table = g.parameter("short", {4, 12});
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::positions(), "positions", {g.x(), short_table}), GraphError,
                         "5 positions are asked for, the table has 4");
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::embedding(), "again", {g.x(), narrow}), GraphError,
                         "tokens must be i32 (B,T)");
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::activation(), "act", {g.x()}, {{"activation", std::string("swish")}}),
                         GraphError, "unknown activation 'swish'");
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::layernorm(), "norm", {g.x()}, {{"eps", 1e-5}}), GraphError,
                         "input 1 is missing");
}

TEST_CASE("B57: rotation refuses odd heads, short tables and positions of another batch") {
    OpGraph g({2, 5, 3, 5, 11}, DType::f32);
    const ValueId odd = g.linear("odd", g.x(), 4 * 3 * 5), even = g.linear("even", g.x(), 4 * 3 * 6);
    CHECK_THROWS_MESSAGE(
        g.graph().emit(ops::rope(), "rope", {odd, g.rope_table(5, 5)}, rope_attributes(6, 3, 5, false)), GraphError,
        "head_dim must be even to be rotated in pairs, found 5");
    CHECK_THROWS_MESSAGE(
        g.graph().emit(ops::rope(), "rope", {even, g.rope_table(4, 6)}, rope_attributes(6, 3, 6, false)), GraphError,
        "5 positions are asked for, the table has 4");
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::rope(), "rope", {even, g.rope_table(5, 6), g.parameter("past", {2})},
                                        rope_attributes(6, 3, 6, false)),
                         GraphError, "past must be i32 (2), found (2)");
}

TEST_CASE("B57: experts: the shape rules say what does not fit") {
    OpGraph g({2, 5, 3, 5, 11}, DType::f32);
    Graph& graph = g.graph();
    const auto route = [&](std::int64_t choices) {
        return graph.add_node(ops::moe_route(), "route", {g.x()},
                              {{"choices", choices}, {"normalize", true}, {"score_sums", true}});
    };
    CHECK_THROWS_MESSAGE(route(16), GraphError,
                         "the router's logits must be (...,E) with at least 16 experts, found (2, 5, 15)");
    const std::vector<ValueId> routed = graph.node(route(4)).outputs;
    CHECK(graph.shape(routed[0]) == Shape({2, 5, 4}));
    CHECK(graph.shape(routed[2]) == Shape({16}));
    CHECK(graph.shape(routed[3]) == Shape({40}));
    CHECK(graph.shape(routed[6]) == Shape({15}));
    const ValueId rows = graph.emit(ops::moe_gather(), "rows", {g.x(), routed[3], routed[4]});
    CHECK(graph.shape(rows) == Shape({40, 15}));
    CHECK_THROWS_MESSAGE(graph.emit(ops::moe_linear(), "y", {rows, g.parameter("flat", {7, 15}), routed[2]}),
                         GraphError, "the experts' weights must be (E,N,K), found (7, 15)");
    CHECK_THROWS_MESSAGE(graph.emit(ops::moe_linear(), "y", {rows, g.parameter("few", {3, 7, 15}), routed[2]}),
                         GraphError, "the offsets must be i32 (4), found (16)");
    CHECK_THROWS_MESSAGE(graph.emit(ops::moe_combine(), "y", {g.x(), routed[0], routed[3], routed[4]}), GraphError,
                         "the rows must be one for each weight, found (2, 5, 15) for weights (2, 5, 4)");
}

TEST_CASE("A gated activation needs an even width") {
    OpGraph g({2, 5, 3, 5, 11}, DType::f32);
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::gated(), "gated", {g.x()}, {{"activation", std::string("silu")}}),
                         GraphError, "gate and up must be (...,2F), found (2, 5, 15)");
}

TEST_CASE("S1-06: attention refuses a width that its heads do not divide") {
    const CaseSize size{2, 5, 3, 4, 11};
    OpGraph g(size, DType::f32);
    const ValueId qkv = g.linear("qkv", g.x(), 30);
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::attention(), "attention", {qkv}, attention_attributes(size, true)),
                         GraphError, "qkv must be (B,T,36) for 3 + 2 x 3 heads of 4, found (2, 5, 30)");
    Attributes no_heads = attention_attributes(size, true);
    no_heads.set("heads", std::int64_t{0});
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::attention(), "none", {qkv}, no_heads), GraphError, "0 query heads");
}

TEST_CASE("S1-12: an attention mask fits or is refused, and of a larger one the top left is used") {
    const CaseSize size{2, 5, 3, 4, 11};
    OpGraph g(size, DType::f32);
    const ValueId qkv = g.linear("qkv", g.x(), 36);
    const auto attention_with = [&](const TensorDesc& mask, const TensorDesc& key_mask) {
        return g.graph().emit(ops::attention(), "attention",
                              {qkv, g.input("mask", mask), g.input("key_mask", key_mask)},
                              attention_attributes(size, true));
    };
    const TensorDesc keys{DType::i32, {2, 5}};
    for (const Shape& shape : {Shape{5, 5}, Shape{9, 8}, Shape{1, 1, 5, 5}, Shape{2, 3, 7, 5}, Shape{1, 3, 5, 5}}) {
        CHECK_NOTHROW(attention_with({DType::u8, shape}, keys));
    }
    for (const Shape& shape : {Shape{4, 5}, Shape{5, 4}, Shape{3, 1, 5, 5}, Shape{1, 2, 5, 5}, Shape{3, 5, 5}}) {
        CHECK_THROWS_MESSAGE(
            attention_with({DType::u8, shape}, keys), GraphError,
            "mask must be u8 (5,5) or (1 or 2,1 or 3,5,5), or larger in the last two, found u8 " + to_string(shape));
    }
    CHECK_THROWS_MESSAGE(attention_with({DType::f32, {5, 5}}, keys), GraphError, "found f32 (5, 5)");
    CHECK_THROWS_MESSAGE(attention_with({DType::u8, {5, 5}}, {DType::i32, {2, 6}}), GraphError,
                         "key_mask must be i32 (2,5), found i32 (2, 6)");
    Attributes backwards = attention_attributes(size, true);
    backwards.set("window", std::int64_t{-1});
    CHECK_THROWS_MESSAGE(g.graph().emit(ops::attention(), "attention", {qkv}, backwards), GraphError,
                         "window is -1, expected 0 (none) or more");
}

TEST_CASE("S1-22: attention maps (2,7,48) to (2,7,16) and weights (2,4,7,7)") {
    OpGraph g({2, 7, 4, 4, 11}, DType::f32);
    const ValueId qkv = g.linear("qkv", g.x(), 48);
    const NodeId id =
        g.graph().add_node(ops::attention_explicit(), "attention", {qkv}, attention_attributes(g.size(), true));
    const Node& node = g.graph().node(id);
    CHECK(g.graph().shape(node.outputs[0]) == Shape({2, 7, 16}));
    CHECK(g.graph().shape(node.outputs[1]) == Shape({2, 4, 7, 7}));
}
