#include <map>
#include <nlohmann/json.hpp>

#include "inspect/run_timeline.hpp"
#include "inspect/tiny_runtime.hpp"
#include "support/catch.hpp"

using namespace causeway;
using nlohmann::json;

namespace {

/// Three training steps of which the last two are recorded.
json recorded(const Config& config, int threads) {
    TinyRuntime tiny(config, threads);
    RunTimeline timeline(tiny.runtime, {1, 2, 1});
    for (std::int64_t step = 1; step <= 3; ++step) {
        CHECK(!timeline.complete());
        tiny.train(step);
    }
    CHECK(timeline.complete());
    return json::parse(timeline.json());
}

double begin_of(const json& event) { return event.at("ts").get<double>(); }
double end_of(const json& event) { return begin_of(event) + event.at("dur").get<double>(); }

}  // namespace

TEST_CASE("A timeline is a Chrome trace whose events nest", "[inspect]") {
    Config config = tiny_config();
    config.model.hidden_size = 96;
    config.model.intermediate_size = 384;
    const ExecutionPlan plan = [&] {
        SharedLayout layout;
        return compile(resolved(config), {}, layout);
    }();
    for (const int threads : {1, 2}) {
        const json trace = recorded(resolved(config), threads);
        std::map<std::string, std::vector<json>> events;
        std::map<std::string, std::int64_t> tiles;
        for (const json& event : trace.at("traceEvents")) {
            CHECK(event.at("pid") == 1);
            CHECK(event.at("tid").get<int>() < threads);
            if (event.at("ph") == "M") continue;
            CHECK(event.at("ph") == "X");
            CHECK(event.at("dur").get<double>() >= 0);
            events[event.at("cat")].push_back(event);
            if (event.at("cat") == "step") tiles[event.at("name")] += event.at("args").at("tiles").get<std::int64_t>();
        }
        REQUIRE(events["training step"].size() == 2);
        CHECK(events["training step"][0].at("name") == "training step 2");
        CHECK(begin_of(events["training step"][0]) == 0);
        CHECK(events["phase"].size() == 6);
        REQUIRE(events["group"].size() == 2 * plan.groups.size());
        for (const Step& step : plan.steps) CHECK(tiles[step.name] >= 2 * step.tiles);
        // A group lies in a phase, and its tiles in it.
        std::size_t g = 0;
        for (const json& phase : events["phase"]) {
            for (; g < events["group"].size() && begin_of(events["group"][g]) < end_of(phase); ++g) {
                CHECK(begin_of(events["group"][g]) >= begin_of(phase));
                CHECK(end_of(events["group"][g]) <= end_of(phase) + 1e-3);
            }
        }
        CHECK(g == events["group"].size());
        const json& first = events["step"].front().at("args");
        CHECK(first.at("op") == "embedding");
        CHECK(first.at("bytes").get<double>() > 0);
        CHECK(first.contains("flops"));
        CHECK(first.contains("group"));
    }
}

TEST_CASE("A timeline of nothing is an empty trace", "[inspect]") {
    TinyRuntime tiny(resolved(tiny_config()), 1);
    const RunTimeline timeline(tiny.runtime, {1, 5, 1});
    const json trace = json::parse(timeline.json());
    for (const json& event : trace.at("traceEvents")) CHECK(event.at("ph") == "M");
}
