#include "inspect/recompute_table.hpp"

#include <nlohmann/json.hpp>

#include "compile/compile.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("Each choice of recomputation is priced by the plan it compiles to", "[inspect]") {
    Config config = tiny_config();
    config.train.recompute = Recompute::attention_free;
    config = resolved(config);
    const std::vector<RecomputeCost> costs = recompute_costs(config);
    REQUIRE(costs.size() == 3);
    CHECK(costs[0].choice == "none");
    CHECK(costs[1].choice == "attention_free");
    CHECK(costs[2].choice == "block");
    CHECK_FALSE(costs[0].chosen);
    CHECK(costs[1].chosen);
    CHECK_FALSE(costs[2].chosen);
    SharedLayout shared;
    const PlanSummary plan = summarize(compile(config, {}, shared));
    CHECK(costs[1].scratch_bytes == plan.scratch_bytes);
    CHECK(costs[1].total_bytes == plan.total_bytes);
    CHECK(costs[1].flops_step == plan.flops_step);
    CHECK(costs[1].predicted_seconds_step == plan.seconds_step);
    for (std::size_t i : {1u, 2u}) {
        CHECK(costs[i].flops_step > costs[i - 1].flops_step);
        CHECK(costs[i].total_bytes - costs[i].scratch_bytes == costs[0].total_bytes - costs[0].scratch_bytes);
    }
}

TEST_CASE("The table of recomputation, to the letter", "[inspect]") {
    const std::vector<RecomputeCost> costs{{"none", false, 4096, 8192, 2e6, 1e-3},
                                           {"block", true, 1024, 5120, 3e6, 2e-3}};
    CHECK(recompute_text(costs) ==
          "recompute  scratch, peak  memory in all  FLOPs a run  of none  predicted\n"
          "none            4.00 KiB       8.00 KiB       2.00 M     1.00    1.00 ms\n"
          "block *         1.00 KiB       5.00 KiB       3.00 M     1.50    2.00 ms\n");
}

TEST_CASE("A plan's JSON has the choices when they are given", "[inspect]") {
    SharedLayout shared;
    const ExecutionPlan plan = compile(resolved(tiny_config()), {}, shared);
    CHECK_FALSE(nlohmann::json::parse(plan_json(plan)).contains("recompute"));
    const auto json = nlohmann::json::parse(plan_json(plan, {recompute_costs(resolved(tiny_config())), {}}));
    REQUIRE(json.at("recompute").size() == 3);
    CHECK(json.at("recompute").at(0).at("choice") == "none");
    CHECK(json.at("recompute").at(0).at("chosen") == true);
    CHECK(json.at("recompute").at(0).at("scratch_bytes") == json.at("summary").at("scratch_bytes"));
    CHECK(json.at("recompute").at(2).at("flops_step") > json.at("summary").at("flops_step"));
}
