#include "inspect/plan_scaling.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>
#include <vector>

#include "inspect/mode_plan.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

Step step_of(const char* name, std::int64_t tiles, double seconds) {
    Step step;
    step.name = name;
    step.op = "op";
    step.tiles = tiles;
    step.predicted_seconds = seconds;
    return step;
}

/// Phase step: a serial group of 10 ms, one of 8 tiles of 10 ms; update: one of 4 tiles of 4 ms and 1 tile of 24 ms.
ExecutionPlan hand_made_plan() {
    ExecutionPlan plan;
    plan.mode = "train";
    plan.steps = {step_of("serial", 2, 0.010), step_of("even", 8, 0.080), step_of("short", 4, 0.016),
                  step_of("long", 1, 0.024)};
    plan.groups = {{0, 1, 2, 0.010, false}, {1, 1, 8, 0.080, true}, {2, 2, 5, 0.040, true}};
    plan.phases[static_cast<std::size_t>(Phase::step)] = {0, 2};
    plan.phases[static_cast<std::size_t>(Phase::update)] = {2, 1};
    return plan;
}

/// A plan of one parallel group.
ExecutionPlan plan_of(std::vector<Step> steps) {
    ExecutionPlan plan;
    StepGroup group{0, static_cast<std::int32_t>(steps.size()), 0, 0, true};
    for (const Step& step : steps) {
        group.tiles += step.tiles;
        group.predicted_seconds += step.predicted_seconds;
    }
    plan.steps = std::move(steps);
    plan.groups = {group};
    plan.phases[static_cast<std::size_t>(Phase::step)] = {0, 1};
    return plan;
}

/// Whoever is free takes the next tile, one by one.
double seconds_by_walking(const std::vector<Step>& steps, int threads) {
    std::vector<double> free_at(static_cast<std::size_t>(threads), 0.0);
    for (const Step& step : steps) {
        for (std::int64_t tile = 0; tile < step.tiles; ++tile) {
            *std::ranges::min_element(free_at) += step.predicted_seconds / static_cast<double>(step.tiles);
        }
    }
    return *std::ranges::max_element(free_at);
}

constexpr std::array cores{1, 2, 4, 8, 16};

}  // namespace

TEST_CASE("Work, span and speed-up of a plan made by hand", "[inspect]") {
    const std::vector<PartScaling> parts = predict_scaling(hand_made_plan(), cores, 3);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].part == "training step");
    CHECK(parts[1].part == "step");
    CHECK(parts[2].part == "update");

    const PartScaling& step = parts[1];
    CHECK(step.work_seconds == Approx(0.090));
    CHECK(step.serial_seconds == Approx(0.010));
    CHECK(step.span_seconds == Approx(0.020));  // the serial group and one tile
    REQUIRE(step.cores.size() == cores.size());
    CHECK(step.cores[0].speed_up == Approx(1));
    CHECK(step.cores[0].groups[0].lost_seconds == 0);
    // 8 tiles on 4 cores are two rounds; sharing among 4 counts 0.7 us.
    CHECK(step.cores[2].seconds == Approx(0.030 + 0.7e-6));
    CHECK(step.cores[2].groups.front().group == 0);
    CHECK(step.cores[2].groups.front().lost_seconds == Approx(0.0075));
    CHECK(step.cores[2].groups.front().sharing_seconds == 0);
    CHECK(step.cores[2].groups.back().sharing_seconds == Approx(0.7e-6));
    // 16 cores find no more than 8 tiles.
    CHECK(step.cores[4].seconds == Approx(step.cores[3].seconds).epsilon(1e-3));

    const PartScaling& update = parts[2];
    CHECK(update.span_seconds == Approx(0.024));
    // Two cores: 4+4+24 against 4+4, since tiles are taken in order.
    CHECK(update.cores[1].seconds == Approx(0.032 + 0.5e-6));

    CHECK(parts[0].work_seconds == Approx(3 * 0.090 + 0.040));
    CHECK(parts[0].cores[2].seconds == Approx(3 * step.cores[2].seconds + update.cores[2].seconds));
}

TEST_CASE("A group's time is that of a walk over its tiles", "[inspect]") {
    std::mt19937 random(7);
    const auto draw = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
    for (int round = 0; round < 300; ++round) {
        std::vector<Step> steps;
        for (std::int64_t count = draw(5); count > 0; --count) {
            const std::int64_t tiles = draw(count == 1 ? 3 : 40);
            // Whole milliseconds make ties.
            steps.push_back(step_of("step", tiles, static_cast<double>(tiles) * static_cast<double>(draw(9)) * 1e-3));
        }
        const ExecutionPlan plan = plan_of(steps);
        const PartScaling part = predict_scaling(plan, cores).front();
        for (const CoreScaling& on : part.cores) {
            const int threads = static_cast<int>(std::min<std::int64_t>(on.cores, plan.groups.front().tiles));
            CHECK(on.seconds == Approx(seconds_by_walking(steps, threads)).margin(1e-5));
        }
    }
}

TEST_CASE("A plan of more tiles than anyone could walk over is predicted too", "[inspect]") {
    const ExecutionPlan plan = plan_of({step_of("huge", std::int64_t{1} << 45, 4e6), step_of("none", 3, 0)});
    const PartScaling part = predict_scaling(plan, cores).front();
    for (const CoreScaling& on : part.cores) CHECK(on.speed_up == Approx(on.cores));
}

TEST_CASE("No number of cores makes a plan faster than its span, or more than that many times as fast", "[inspect]") {
    const Config config = resolved(tiny_config());
    for (const std::string& mode : mode_names()) {
        const ExecutionPlan plan = mode_plan(config, mode);
        const std::vector<PartScaling> parts = predict_scaling(plan, cores);
        CHECK((parts.front().part == "training step") == (mode == "train"));
        for (const PartScaling& part : parts) {
            CHECK(part.cores.front().seconds == Approx(part.work_seconds));
            for (const CoreScaling& on : part.cores) {
                CHECK(on.seconds >= part.span_seconds * (1 - 1e-9));
                CHECK(on.speed_up <= on.cores * (1 + 1e-9));
            }
        }
    }
}

TEST_CASE("Predictions as text and as JSON", "[inspect]") {
    const ExecutionPlan plan = hand_made_plan();
    const std::vector<PartScaling> parts = predict_scaling(plan, cores);
    const std::string text = scaling_text(plan, parts);
    CHECK_THAT(text, contains("training step: work 130 ms, span 44.0 ms, serial groups 10.0 ms; at most 3.0 times") &&
                         contains("\nstep: work 90.0 ms") && contains("\nupdate: work 40.0 ms"));
    CHECK_THAT(text, contains("groups of the training step that lose the most on 16 cores") && contains("long +1") &&
                         contains("serial"));
    CHECK_THAT(scaling_text(mode_plan(resolved(tiny_config()), "train"), predict_scaling(plan, cores)),
               contains("memory that keeps up"));
    CHECK(group_label(plan, 2) == "long +1");
    CHECK(group_label(plan, 0) == "serial");

    const auto json = nlohmann::json::parse(plan_json(mode_plan(resolved(tiny_config()), "train"), {{}, parts}));
    const auto& scaling = json.at("scaling");
    REQUIRE(scaling.size() == 3);
    CHECK(scaling[0].at("part") == "training step");
    CHECK(scaling[1].at("work_seconds").get<double>() == Approx(0.090));
    CHECK(scaling[1].at("cores").size() == cores.size());
    CHECK(scaling[1].at("cores")[2].at("groups")[0].at("group") == 0);
    CHECK(!nlohmann::json::parse(plan_json(mode_plan(resolved(tiny_config()), "eval"))).contains("scaling"));
}
