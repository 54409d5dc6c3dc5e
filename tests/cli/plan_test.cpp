#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

TEST_CASE("A plan is printed with its verdict on memory") {
    const Outcome plan = call({"plan", config_path("repeat_h4.json")});
    CHECK(plan.code == 0);
    CHECK(plan.err == "");
    CHECK_THAT(plan.out, contains("8,384") && contains("attention"));
    CHECK_THAT(lines_of(plan.out).back(), contains("needs ") && contains(" available: fits"));
    const Outcome limited = call({"plan", config_path("gpt2_124m.json"), "--set", "runtime.memory_limit_mb=100"});
    CHECK_THAT(lines_of(limited.out).back(), contains(" of 100 MiB runtime.memory_limit_mb: does not fit"));
}

TEST_CASE("S3-23: the plan of a model with experts says how many parameters a token meets") {
    const Outcome plan = call({"plan", config_path("minimind_moe.json")});
    CHECK(plan.code == 0);
    CHECK_THAT(plan.out, contains("198,416,640") && contains("active a token        63,936,768"));
    const Outcome dense = call({"plan", config_path("repeat_h4.json")});
    CHECK(dense.out.find("active a token") == std::string::npos);
}

TEST_CASE("Plans as JSON, Graphviz and SVG") {
    const Outcome json = call({"plan", config_path("repeat_h4.json"), "--json", "--batch", "3"});
    CHECK(json.code == 0);
    const auto parsed = nlohmann::json::parse(json.out);
    CHECK(parsed.at("summary").at("parameters") == 8384);
    CHECK(parsed.at("summary").at("tokens") == 36);
    const Outcome dot = call({"plan", config_path("repeat_h4.json"), "--dot"});
    CHECK_THAT(dot.out, contains("digraph"));
    const TemporaryFolder folder;
    const Outcome svg = call({"plan", config_path("repeat_h4.json"), "--svg", folder.file("plan.svg")});
    CHECK(svg.code == 0);
    CHECK_THAT(svg.out, contains("plan.svg: ") && contains("fits"));
    CHECK_THAT(content_of(folder.file("plan.svg")), contains("<svg"));
    CHECK(call({"plan", config_path("repeat_h4.json"), "--svg", folder.file("no/such/plan.svg")}).code == 1);
}

TEST_CASE("Every mode can be planned, and without reuse more memory is needed") {
    const auto scratch = [](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"plan", config_path("kjv_bytes.json"), "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome plan = call(arguments);
        CHECK(plan.code == 0);
        return nlohmann::json::parse(plan.out).at("summary").at("scratch_bytes").get<std::int64_t>();
    };
    const std::int64_t train = scratch({});
    CHECK(scratch({"--no-reuse"}) > train * 3 / 2);
    CHECK(scratch({"--mode", "eval"}) < train);
    CHECK(scratch({"--mode", "logits"}) < train);
    CHECK(scratch({"--mode", "prefill"}) < train);
    CHECK(scratch({"--mode", "decode"}) < scratch({"--mode", "prefill"}));
    CHECK(scratch({"--mode", "inspect"}) > 0);
    CHECK(scratch({"--sequence-length", "32"}) < train);
}

TEST_CASE("A training plan ends with what each choice of recomputation costs, others do not") {
    const std::vector<std::string> plan{"plan", config_path("kjv_bytes.json"), "--set", "train.recompute=block"};
    const Outcome text = call(plan);
    CHECK(text.code == 0);
    CHECK_THAT(text.out, contains("\nnone ") && contains("\nattention_free ") && contains("\nblock * "));
    const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = plan;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return call(arguments).out;
    };
    const auto json = nlohmann::json::parse(with({"--json"}));
    const auto& choices = json.at("recompute");
    REQUIRE(choices.size() == 3);
    CHECK(choices.at(2).at("chosen") == true);
    CHECK(choices.at(2).at("scratch_bytes") == json.at("summary").at("scratch_bytes"));
    CHECK(choices.at(2).at("scratch_bytes") < choices.at(0).at("scratch_bytes"));
    CHECK_FALSE(nlohmann::json::parse(with({"--json", "--mode", "eval"})).contains("recompute"));
    CHECK(with({"--mode", "eval"}).find("attention_free") == std::string::npos);
}

TEST_CASE("plan --cores predicts speed-ups as a table and in the JSON") {
    const Outcome all = call({"plan", config_path("kjv_bytes.json"), "--cores", "all"});
    CHECK(all.code == 0);
    CHECK_THAT(all.out, contains("training step: work ") && contains("\nstep: work ") && contains("\nupdate: work ") &&
                            contains("\npack: work ") && contains("\n  128  ") &&
                            contains("lose the most on 128 cores") && contains("h.*."));
    const Outcome one = call({"plan", config_path("kjv_bytes.json"), "--cores", "4", "--mode", "eval"});
    CHECK(one.code == 0);
    CHECK(one.out.find("training step") == std::string::npos);
    CHECK_THAT(one.out, contains("lose the most on 4 cores"));
    const Outcome json = call({"plan", config_path("kjv_bytes.json"), "--cores", "1,2,8", "--json"});
    const auto parsed = nlohmann::json::parse(json.out);
    const auto& cores = parsed.at("scaling").at(0).at("cores");
    REQUIRE(cores.size() == 3);
    CHECK(cores[0].at("speed_up").get<double>() == Approx(1));
    CHECK(cores[1].at("speed_up").get<double>() > 1.5);
    CHECK(cores[2].at("speed_up").get<double>() > cores[1].at("speed_up").get<double>());
    CHECK(!cores[2].at("groups").empty());
    for (const std::string wrong : {"0", "many", "1,", "1,,2", "1025"}) {
        const Outcome outcome = call({"plan", config_path("kjv_bytes.json"), "--cores", wrong});
        CHECK(outcome.code == 2);
        CHECK_THAT(outcome.err, contains("--cores: found " + wrong + ", expected "));
    }
    CHECK(call({"plan", config_path("kjv_bytes.json"), "--cores", "2", "--dot"}).code == 2);
}
