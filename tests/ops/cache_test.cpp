#include <algorithm>
#include <cmath>
#include <limits>

#include "base/isa.hpp"
#include "causeway/error.hpp"
#include "ops/ops.hpp"
#include "support/catch.hpp"
#include "support/graph_plan.hpp"

using namespace causeway;
using namespace causeway::test;

namespace {

struct CacheSize {
    std::int64_t batch, tokens, capacity, heads, kv_heads, head_dim;
    std::int64_t width() const { return (heads + 2 * kv_heads) * head_dim; }
};

Value value_of(const std::string& name, DType dtype, const Shape& shape, Role role) {
    Value value;
    value.name = name;
    value.desc = {dtype, shape};
    value.role = role;
    return value;
}

/// qkv goes into the cache and attends over it.
Graph cache_graph(const CacheSize& size, DType dtype, bool tiled) {
    Graph graph;
    const ValueId qkv = graph.add_value(value_of("qkv", dtype, {size.batch, size.tokens, size.width()}, Role::input));
    const Shape cache{size.batch, size.kv_heads, size.capacity, size.head_dim};
    const ValueId k = graph.add_value(value_of("k", dtype, cache, Role::cache));
    const ValueId v = graph.add_value(value_of("v", dtype, cache, Role::cache));
    const ValueId past = graph.add_value(value_of("past", DType::i32, {size.batch}, Role::input));
    const ValueId count = graph.add_value(value_of("count", DType::i32, {size.batch}, Role::input));
    Attributes attributes{{"heads", size.heads},
                          {"kv_heads", size.kv_heads},
                          {"head_dim", size.head_dim},
                          {"scale", 0.3},
                          {"causal", true},
                          {"tiled", tiled},
                          {"context", size.capacity}};
    const NodeId append = graph.add_node(ops::append_kv(), "append", {qkv, k, v, past, count}, attributes);
    const std::vector<ValueId> grown = graph.node(append).outputs;
    const ValueId out = graph.emit(ops::attention_cached(), "out", {qkv, grown[0], grown[1], past, count}, attributes);
    graph.value(out).role = Role::result;
    return graph;
}

/// The cache graph of one instruction set, fed call by call.
class CacheRun {
  public:
    CacheRun(const CacheSize& size, Isa isa, bool tiled)
        : size_(size), runtime_(runtime_of(cache_graph(size, DType::f32, tiled), float_tables(isa), 2)) {}

    std::span<float> qkv() { return executor().values<float>("qkv"); }
    /// Element d of q (part 0), k (1) or v (2), head h.
    float& element(int part, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) {
        const std::int64_t first = part == 0 ? 0 : part == 1 ? size_.heads : size_.heads + size_.kv_heads;
        return qkv()[static_cast<std::size_t>((b * size_.tokens + t) * size_.width() + (first + h) * size_.head_dim +
                                              d)];
    }
    void run(std::vector<std::int32_t> past, std::vector<std::int32_t> count) {
        std::ranges::copy(past, executor().values<std::int32_t>("past").begin());
        std::ranges::copy(count, executor().values<std::int32_t>("count").begin());
        executor().run(Phase::step, {});
    }
    float out(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) {
        const std::int64_t row = (b * size_.tokens + t) * size_.heads + h;
        return executor().values<float>("out")[static_cast<std::size_t>(row * size_.head_dim + d)];
    }
    float cached(const char* name, std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d) {
        const std::int64_t row = (b * size_.kv_heads + h) * size_.capacity + t;
        return executor().values<float>(name)[static_cast<std::size_t>(row * size_.head_dim + d)];
    }

  private:
    Executor& executor() { return runtime_.executor("test"); }

    CacheSize size_;
    ModelRuntime runtime_;
};

template <class F>
void for_each_path(F&& f) {
    for (const Isa isa : available_isas()) {
        for (const bool tiled : {true, false}) {
            INFO(to_string(isa) << (tiled ? " tiled" : " explicit"));
            f(isa, tiled);
        }
    }
}

}  // namespace

TEST_CASE("B28: with zero queries and keys token i of a chunk is the mean of V over the past and itself") {
    const CacheSize size{2, 5, 40, 4, 2, 16};
    for_each_path([&](Isa isa, bool tiled) {
        CacheRun run(size, isa, tiled);
        std::vector<std::vector<std::vector<double>>> sums(2, {{}, {}});  // [b][kv head]: sum of V at d = 3
        Numbers numbers(5);
        std::vector<std::int32_t> past{0, 0};
        for (const std::vector<std::int32_t>& count : {std::vector<std::int32_t>{5, 1}, {1, 4}, {5, 0}, {3, 5}}) {
            std::ranges::fill(run.qkv(), 0.0F);
            for (std::int64_t b = 0; b < 2; ++b) {
                for (std::int64_t t = 0; t < size.tokens; ++t) {
                    for (std::int64_t g = 0; g < 2; ++g) {
                        const double v = numbers();
                        run.element(2, b, t, g, 3) = static_cast<float>(v);
                        auto& sum = sums[static_cast<std::size_t>(b)][static_cast<std::size_t>(g)];
                        if (t < count[static_cast<std::size_t>(b)]) sum.push_back((sum.empty() ? 0 : sum.back()) + v);
                    }
                }
            }
            run.run(past, count);
            for (std::int64_t b = 0; b < 2; ++b) {
                const auto row = static_cast<std::size_t>(b);
                for (std::int64_t t = 0; t < size.tokens; ++t) {
                    for (std::int64_t h = 0; h < size.heads; ++h) {
                        const auto seen = static_cast<std::size_t>(past[row] + t + 1);
                        const bool there = t < count[row];
                        const double mean =
                            there ? sums[row][static_cast<std::size_t>(h / 2)][seen - 1] / static_cast<double>(seen)
                                  : 0;
                        CHECK(std::abs(run.out(b, t, h, 3) - mean) < 1e-6);
                        CHECK(run.out(b, t, h, 2) == 0);
                    }
                }
                past[row] += count[row];
            }
        }
        CHECK(past == std::vector<std::int32_t>{14, 10});
    });
}

TEST_CASE("S3-21,22 keys (1,4,2,16) become (1,5,2,16) with one token, the earlier ones untouched") {
    const CacheSize size{1, 4, 8, 4, 2, 16};
    CacheRun run(size, available_isas().back(), true);
    Numbers numbers(9);
    for (float& x : run.qkv()) x = static_cast<float>(numbers());
    const float k3 = run.element(1, 0, 3, 1, 7), v0 = run.element(2, 0, 0, 0, 15);
    run.run({0}, {4});
    CHECK(run.cached("k", 0, 1, 3, 7) == k3);
    CHECK(run.cached("v", 0, 0, 0, 15) == v0);
    CHECK(run.cached("k", 0, 1, 4, 7) == 0);
    for (float& x : run.qkv()) x = static_cast<float>(numbers());
    const float k4 = run.element(1, 0, 0, 1, 7);
    run.run({4}, {1});
    CHECK(run.cached("k", 0, 1, 3, 7) == k3);
    CHECK(run.cached("v", 0, 0, 0, 15) == v0);
    CHECK(run.cached("k", 0, 1, 4, 7) == k4);
    for (std::int64_t t = 5; t < size.capacity; ++t) CHECK(run.cached("k", 0, 0, t, 0) == 0);
}

TEST_CASE("Attention over the cache in two chunks equals attention over all tokens at once") {
    const std::int64_t tokens = 70, first = 41;
    const CacheSize whole{1, tokens, tokens, 6, 3, 24}, part{1, tokens, tokens + 3, 6, 3, 24};
    for_each_path([&](Isa isa, bool tiled) {
        CacheRun expected(whole, isa, tiled), found(part, isa, tiled);
        Numbers numbers(3);
        for (float& x : expected.qkv()) x = static_cast<float>(numbers());
        expected.run({0}, {static_cast<std::int32_t>(tokens)});
        const auto width = static_cast<std::size_t>(whole.width());
        const auto copy = [&](std::int64_t from, std::int64_t count) {
            const auto rows =
                expected.qkv().subspan(static_cast<std::size_t>(from) * width, static_cast<std::size_t>(count) * width);
            // What stands after the last token must not matter.
            std::ranges::fill(found.qkv(), std::numeric_limits<float>::quiet_NaN());
            std::ranges::copy(rows, found.qkv().begin());
        };
        copy(0, first);
        found.run({0}, {static_cast<std::int32_t>(first)});
        copy(first, tokens - first);
        found.run({static_cast<std::int32_t>(first)}, {static_cast<std::int32_t>(tokens - first)});
        double worst = 0;
        for (std::int64_t t = first; t < tokens; ++t) {
            for (std::int64_t h = 0; h < 6; ++h) {
                for (std::int64_t d = 0; d < 24; ++d) {
                    const double error = expected.out(0, t, h, d) - found.out(0, t - first, h, d);
                    worst = std::max(worst, std::isnan(error) ? 1 : std::abs(error));
                }
            }
        }
        CHECK(worst < 1e-5);
    });
}

TEST_CASE("The shapes of a cache are checked") {
    const CacheSize size{2, 3, 8, 4, 2, 16};
    Graph graph = cache_graph(size, DType::f32, true);
    const Node node = graph.nodes().front();
    const ValueId narrow = graph.add_value(value_of("narrow", DType::f32, {2, 2, 8, 15}, Role::cache));
    const ValueId three = graph.add_value(value_of("three", DType::i32, {3}, Role::input));
    CHECK_THROWS_MESSAGE(
        graph.emit(ops::append_kv(), "a", {node.input(0), narrow, node.input(2), node.input(3), node.input(4)},
                   node.attributes),
        GraphError, "the cache must be (2,2,C,16), found (2, 2, 8, 15)");
    CHECK_THROWS_MESSAGE(
        graph.emit(ops::append_kv(), "b", {node.input(0), node.input(1), node.input(2), three, node.input(4)},
                   node.attributes),
        GraphError, "input 3 must be i32 (2), found (3)");
}
