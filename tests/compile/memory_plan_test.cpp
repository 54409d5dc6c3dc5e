#include <algorithm>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

Config gpt2() {
    return parse_config(
        R"({"model": {"num_hidden_layers": 3, "hidden_size": 24, "num_attention_heads": 3, "vocab_size": 67},
                            "data": {"source": "repeat"}, "train": {"batch_size": 3, "sequence_length": 13, "max_grad_norm": 1}})",
        "test");
}

struct Interval {
    std::string name;
    std::int64_t begin, end;
    std::int32_t first, last;
};

std::vector<Interval> scratch_intervals(const ExecutionPlan& plan) {
    std::vector<Interval> found;
    for (const PlannedValue& value : plan.values) {
        if (value.place.region != Region::scratch) continue;
        found.push_back({value.name, value.place.offset, value.place.offset + value.desc.bytes(), value.first_group,
                         value.last_group});
    }
    for (const PlannedNode& node : plan.nodes) {
        if (node.workspace_bytes == 0) continue;
        found.push_back({node.name + " workspace", node.workspace.offset, node.workspace.offset + node.workspace_bytes,
                         node.first_group, node.last_group});
    }
    return found;
}

/// True when the step groups [first, last] are those of one node: there its output takes over its input's memory.
bool one_node_spans(const ExecutionPlan& plan, std::int32_t first, std::int32_t last) {
    return std::ranges::any_of(
        plan.nodes, [&](const PlannedNode& node) { return node.first_group == first && node.last_group == last; });
}

}  // namespace

TEST_CASE(
    "Scratch values overlap in memory only when they do not in time, or one is written over the other as it dies") {
    for (bool reuse : {true, false}) {
        Config config = gpt2();
        config.runtime.memory_reuse = reuse;
        SharedLayout shared;
        const ExecutionPlan plan = compile(config, {}, shared);
        const std::vector<Interval> intervals = scratch_intervals(plan);
        int shared_pairs = 0;
        for (std::size_t a = 0; a < intervals.size(); ++a) {
            for (std::size_t b = a + 1; b < intervals.size(); ++b) {
                const Interval& x = intervals[a];
                const Interval& y = intervals[b];
                if (x.end <= y.begin || y.end <= x.begin) continue;
                ++shared_pairs;
                INFO(x.name << " [" << x.first << ", " << x.last << "] and " << y.name << " [" << y.first << ", "
                            << y.last << "]");
                const bool apart = x.last < y.first || y.last < x.first;
                const bool written_over = x.begin == y.begin && (one_node_spans(plan, y.first, x.last) ||
                                                                 one_node_spans(plan, x.first, y.last));
                CHECK((apart || written_over));
            }
        }
        CHECK((shared_pairs > 0) == reuse);
        for (const Interval& interval : intervals) {
            CHECK(interval.begin % 64 == 0);
            CHECK(interval.end <= plan.memory.region_bytes[2]);
        }
    }
}

TEST_CASE("Memory reuse is real: peak is well below the sum of all values") {
    SharedLayout shared;
    const ExecutionPlan plan = compile(gpt2(), {}, shared);
    CHECK(plan.memory.region_bytes[2] < plan.memory.scratch_without_reuse * 7 / 10);
    Config apart = gpt2();
    apart.runtime.memory_reuse = false;
    SharedLayout other;
    CHECK(compile(apart, {}, other).memory.region_bytes[2] == plan.memory.scratch_without_reuse);
}

TEST_CASE("All modes of a model share parameters and state") {
    SharedLayout shared;
    const ExecutionPlan train = compile(gpt2(), {}, shared);
    CompileOptions options;
    options.mode = Mode::eval;
    options.batch = 7;
    const ExecutionPlan eval = compile(gpt2(), options, shared);
    for (std::int32_t i : eval.with_role(Role::parameter)) {
        const PlannedValue& value = eval.values[static_cast<std::size_t>(i)];
        CHECK(value.place.offset == train.value(value.name).place.offset);
    }
    CHECK_FALSE(eval.has("wte.weight.grad"));
}

TEST_CASE("Gradients lie one behind the other in backward's order") {
    SharedLayout shared;
    const ExecutionPlan plan = compile(gpt2(), {}, shared);
    std::int64_t next = 0;
    std::vector<std::string> names;
    for (std::int32_t i : plan.with_role(Role::gradient)) {
        const PlannedValue& value = plan.values[static_cast<std::size_t>(i)];
        if (value.storage != i) continue;
        CHECK(value.place.offset == next);
        next += (value.desc.bytes() + 63) / 64 * 64;
        names.push_back(value.name);
    }
    REQUIRE(names.size() == 40);
    CHECK(names[0] == "wte.weight.grad");  // the tied head's product comes first
    CHECK(names[1] == "ln_f.weight.grad");
    CHECK(names.back() == "wpe.weight.grad");
}

TEST_CASE("A value of another size under a name that is taken is refused") {
    SharedLayout shared;
    shared.place(Region::state, "a", 64);
    CHECK(shared.place(Region::state, "b", 128).offset == 64);
    CHECK(shared.place(Region::state, "a", 64).offset == 0);
    CHECK_THROWS_MESSAGE(shared.place(Region::state, "a", 128), GraphError,
                         "'a' has 64 bytes in one plan and 128 in another");
}
