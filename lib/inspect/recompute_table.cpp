#include "inspect/recompute_table.hpp"

#include <array>
#include <utility>

#include "base/format.hpp"
#include "compile/compile.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

constexpr std::array<std::pair<Recompute, const char*>, 3> choices{
    {{Recompute::none, "none"}, {Recompute::attention_free, "attention_free"}, {Recompute::block, "block"}}};

}  // namespace

std::vector<RecomputeCost> recompute_costs(const Config& config) {
    std::vector<RecomputeCost> costs;
    for (const auto& [choice, name] : choices) {
        Config changed = config;
        changed.train.recompute = choice;
        SharedLayout shared;
        const PlanSummary plan = summarize(compile(changed, CompileOptions{}, shared));
        costs.push_back({name, choice == config.train.recompute, plan.scratch_bytes, plan.total_bytes, plan.flops_step,
                         plan.seconds_step});
    }
    return costs;
}

std::string recompute_text(const std::vector<RecomputeCost>& costs) {
    using Align = TextTable::Align;
    TextTable table({{"recompute"},
                     {"scratch, peak", Align::right},
                     {"memory in all", Align::right},
                     {"FLOPs a run", Align::right},
                     {"of none", Align::right},
                     {"predicted", Align::right}});
    for (const RecomputeCost& cost : costs) {
        table.add({cost.choice + (cost.chosen ? " *" : ""), bytes_text(static_cast<double>(cost.scratch_bytes)),
                   bytes_text(static_cast<double>(cost.total_bytes)), quantity_text(cost.flops_step),
                   fmt::format("{:.2f}", cost.flops_step / costs.front().flops_step),
                   seconds_text(cost.predicted_seconds_step)});
    }
    return table.str();
}

}  // namespace causeway
