#include "inspect/plan_dump.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "compile/compile.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"
#include "support/xml.hpp"

using namespace causeway;

namespace {

/// Two steps by hand: y = f(x, w) in scratch, then g updates w.
ExecutionPlan hand_made_plan() {
    ExecutionPlan plan;
    plan.mode = "train";
    const auto value = [&](const char* name, Role role, DType dtype, Shape shape, BufferRef place, std::int32_t first,
                           std::int32_t last, std::int32_t storage) {
        PlannedValue made;
        made.name = name;
        made.role = role;
        made.desc = {dtype, shape};
        made.place = place;
        made.first_group = first;
        made.last_group = last;
        made.storage = storage;
        plan.values.push_back(made);
    };
    value("tokens", Role::input, DType::i32, {2, 3}, {Region::scratch, 0}, 0, 1, 0);
    value("w", Role::parameter, DType::f32, {10, 4}, {Region::parameters, 0}, 0, 1, 1);
    value("y", Role::activation, DType::f32, {2, 3, 4}, {Region::scratch, 64}, 0, 1, 2);
    value("w.new", Role::parameter, DType::f32, {10, 4}, {Region::parameters, 0}, 1, 1, 1);
    PlannedNode look_up{"look_up", "f", "says what f does",     "eps=0.1", {0, 1, -1}, {2}, 0,
                        0,         0,   {Region::scratch, 192}, 100};
    PlannedNode change{"change", "g", "says what g does", "", {1, 2}, {3}, 1, 1, 1, {}, 0};
    plan.nodes = {look_up, change};
    plan.steps = {{"look_up", "f", 0, 4, 1200, 96, 2e-6, nullptr}, {"change/a", "g", 1, 1, 80, 320, 5e-5, nullptr}};
    plan.groups = {{0, 1, 4, 2e-6, false}, {1, 1, 1, 5e-5, true}};
    plan.phases = {PhaseRange{0, 0}, PhaseRange{0, 1}, PhaseRange{1, 1}};
    plan.memory.region_bytes = {192, 0, 320};
    plan.memory.scratch_without_reuse = 448;
    return plan;
}

std::string expected_text() {
    return "plan train: f32, kernels reference, memory reuse on\n"
           "2 steps in 2 groups, 1 of them parallel\n"
           "\n"
           "parameters            40 (160 B)\n"
           "constants             0 B\n"
           "packed weights        0 B\n"
           "gradients             0 B\n"
           "optimizer moments     0 B\n"
           "scratch, peak         320 B (448 B without reuse)\n"
           "memory in all         512 B\n"
           "FLOPs a run           1.20 k (200 a token, 6 tokens)\n"
           "FLOPs an update       80\n"
           "predicted, one core   2.00 us a run, 50.0 us an update, 0 s a repacking\n"
           "\n"
           "step  group  phase   run       op  name      shapes                    dtype  place of the output  alive  "
           "tiles   FLOPs  bytes  predicted\n"
           "   0      0  step    serial    f   look_up   (2,3) (10,4) -> (2,3,4)   f32    scratch+64           [0,1]  "
           "    4  1.20 k   96 B    2.00 us\n"
           "   1      1  update  parallel  g   change/a  (10,4) (2,3,4) -> (10,4)  f32    parameters+0         [1,1]  "
           "    1      80  320 B    50.0 us\n"
           "\n"
           "value   role        dtype  shape    place         alive  bytes\n"
           "tokens  input       i32    (2,3)    scratch+0     [0,1]     24\n"
           "w       parameter   f32    (10,4)   parameters+0  [0,1]    160\n"
           "y       activation  f32    (2,3,4)  scratch+64    [0,1]     96\n"
           "w.new   parameter   f32    (10,4)   parameters+0  [1,1]    160\n"
           "\n"
           "workspace of  place        alive  bytes\n"
           "look_up       scratch+192  [0,0]    100\n";
}

ExecutionPlan compiled(const Config& config, Mode mode = Mode::train) {
    SharedLayout layout;
    CompileOptions options;
    options.mode = mode;
    return compile(config, options, layout);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("A plan as text, to the letter", "[inspect]") { CHECK(plan_text(hand_made_plan()) == expected_text()); }

TEST_CASE("A plan as JSON has all there is", "[inspect]") {
    const auto json = nlohmann::json::parse(plan_json(hand_made_plan()));
    CHECK(json.at("mode") == "train");
    CHECK(json.at("summary").at("parameters") == 40);
    CHECK(json.at("summary").at("flops_per_token") == 200.0);
    CHECK(json.at("summary").at("scratch_bytes_without_reuse") == 448);
    CHECK(json.at("region_bytes").at("scratch") == 320);
    CHECK(json.at("phases").at("update").at("first_group") == 1);
    CHECK(json.at("groups").at(1).at("parallel") == true);
    const auto& step = json.at("steps").at(0);
    CHECK(step.at("input_shapes") == nlohmann::json::parse("[[2,3],[10,4],null]"));
    CHECK(step.at("output_shapes") == nlohmann::json::parse("[[2,3,4]]"));
    CHECK(step.at("predicted_seconds") == 2e-6);
    CHECK(json.at("nodes").at(0).at("workspace").at("offset") == 192);
    CHECK(json.at("nodes").at(1).at("workspace").at("offset").is_null());
    CHECK(json.at("values").at(2).at("offset") == 64);
    CHECK(json.at("values").at(3).at("storage") == 1);
}

TEST_CASE("A plan as DOT", "[inspect]") {
    const std::string dot = plan_dot(hand_made_plan());
    for (const char* part : {"digraph \"plan train\" {", "subgraph cluster_step", "subgraph cluster_update",
                             "n0 [label=\"look_up\\nf\\neps=0.1\"]", "v1 [label=\"w\\n(10,4)\"", "v0 -> n0;",
                             "v1 -> n0;", "n0 -> n1 [label=\"(2,3,4)\"]"}) {
        INFO(part);
        CHECK(occurrences(dot, part) == 1);
    }
    CHECK(occurrences(dot, "cluster_pack") == 0);
    CHECK(occurrences(dot, "{") == occurrences(dot, "}"));
}

TEST_CASE("A plan as SVG is well formed and draws every buffer and step", "[inspect]") {
    const auto counts = XmlReader::element_counts(plan_svg(hand_made_plan()));
    // Tooltips: the picture, three buffers (two values and a workspace), two steps.
    CHECK(counts.at("title") == 1 + 3 + 2);
    const ExecutionPlan plan = compiled(resolved(tiny_config()));
    const std::string svg = plan_svg(plan);
    CHECK_NOTHROW(XmlReader::element_counts(svg));
    CHECK_THAT(svg, contains(">Scratch memory<") && contains(">attention_backward<"));
}

TEST_CASE("Text of a plan's SVG is cut between characters", "[inspect]") {
    for (const char* before : {"", "x"}) {  // one of the two puts the cut inside a character of two bytes
        ExecutionPlan plan = hand_made_plan();
        plan.steps[0].name = before;
        for (int i = 0; i < 100; ++i) plan.steps[0].name += "\xC3\xA9";
        const std::string svg = plan_svg(plan);
        CHECK_THAT(svg, contains("\xC3\xA9..<"));
        CHECK_NOTHROW(nlohmann::json(svg).dump());  // throws on what is not UTF-8
    }
}

TEST_CASE("A compiled plan's summary counts what the config says", "[inspect]") {
    Config config = load_config(CAUSEWAY_SOURCE_DIR "/configs/repeat_h4.json");
    const PlanSummary train = summarize(compiled(config));
    CHECK(train.parameters == 8384);  // S1-17
    CHECK(train.parameter_bytes == 8384 * 4);
    CHECK(train.gradient_bytes == 8384 * 4);
    CHECK(train.moment_bytes == 2 * 8384 * 4);
    CHECK(train.tokens == 16 * 12);
    CHECK(train.scratch_bytes < train.scratch_without_reuse);
    CHECK(train.flops_update > 0);
    CHECK(train.total_bytes >= train.parameter_bytes + train.gradient_bytes + train.moment_bytes + train.scratch_bytes);
    const PlanSummary eval = summarize(compiled(config, Mode::eval));
    CHECK(eval.gradient_bytes == 0);
    CHECK(eval.flops_update == 0);
    CHECK(train.flops_step > 2.5 * eval.flops_step);

    config.runtime.memory_reuse = false;
    const PlanSummary apart = summarize(compiled(config));
    CHECK(apart.scratch_bytes == apart.scratch_without_reuse);
    CHECK(apart.scratch_without_reuse == train.scratch_without_reuse);
}

TEST_CASE("Every step of a compiled plan is in every dump", "[inspect]") {
    for (Mode mode : {Mode::train, Mode::eval, Mode::logits, Mode::prefill, Mode::decode, Mode::inspect}) {
        const ExecutionPlan plan = compiled(resolved(tiny_config()), mode);
        const std::string text = plan_text(plan);
        const auto json = nlohmann::json::parse(plan_json(plan));
        CHECK(json.at("steps").size() == plan.steps.size());
        CHECK(json.at("values").size() == plan.values.size());
        for (const Step& step : plan.steps) CHECK(text.find(" " + step.name + " ") != std::string::npos);
        CHECK(XmlReader::element_counts(plan_svg(plan)).at("title") > static_cast<int>(plan.steps.size()));
        CHECK(occurrences(plan_dot(plan), "\n    n") == plan.nodes.size());
    }
}
