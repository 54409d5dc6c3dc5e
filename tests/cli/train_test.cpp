#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/process.hpp"
#include "io/run_folder.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/metrics.hpp"
#include "support/temporary_folder.hpp"

using nlohmann::json;

namespace {

/// A run with far more steps than it will do.
std::vector<std::string> endless_training(const std::string& run) {
    return tiny_training(run, {"--set", "train.max_steps=100000000", "--set", "train.eval_every=0"});
}

/// The files of a run are complete and loadable; returns the steps in its metrics.
std::int64_t check_saved(const std::string& run) {
    const causeway::Config config = causeway::load_run({run});
    CHECK(config.model.hidden_size == 16);
    const causeway::SafetensorsFile parameters(run + "/model.safetensors");
    CHECK(parameters.find("wte.weight") != nullptr);
    const std::vector<json> metrics = metrics_of(run);
    REQUIRE(!metrics.empty());
    const std::int64_t last = metrics.back().at("step");
    CHECK(last == static_cast<std::int64_t>(metrics.size()));
    return last;
}

}  // namespace

TEST_CASE("Training with experts prints and records their load") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome =
        call(tiny_training(run, {"--set", "model.mlp=gated", "--set", "model.mlp_bias=false", "--set",
                                 "model.num_experts=3", "--set", "model.router_aux_loss_coef=0.01"}));
    CHECK(outcome.err == "");
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains(" | aux ") && contains(" | experts "));
    const json first = metrics_of(run).front();
    CHECK(first.at("aux_loss").get<double>() > 0);
    REQUIRE(first.at("expert_load").size() == 1);
    double sum = 0;
    for (const json& share : first.at("expert_load")[0]) sum += share.get<double>();
    CHECK(sum == Approx(1));
}

TEST_CASE("Off a terminal training prints plain lines: a head, steps, validations, epochs, a summary") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome = call(tiny_training(run));
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
    CHECK(outcome.out.find('\r') == std::string::npos);
    CHECK(outcome.out.find('\x1b') == std::string::npos);
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 16);
    CHECK(lines[0] == "causeway 0.1.0: training " + config_path("repeat_h4.json"));
    CHECK_THAT(lines[1], contains("model   3,200 parameters, 1 layer, 4 heads, hidden 16, context 12"));
    CHECK(lines[2] == "data    built-in task repeat: a row is one random token repeated: say it again");
    CHECK_THAT(lines[3], contains("memory  ") && contains(" available"));
    CHECK_THAT(lines[4], contains("plan    ") && contains("FLOP a training step"));
    CHECK_THAT(lines[5], contains("machine ") && contains(" thread") && contains("FLOP/s"));
    CHECK(lines[6] == "run     12 steps of 4 x 12 tokens, seed 42, into " + run);
    CHECK_THAT(lines[7], contains("step  1/12 | loss 4.") && contains(" | lr 5.00e-03 | norm ") &&
                             contains(" tok/s | ") && contains("% | eta "));
    CHECK_THAT(lines[8], contains("step  5/12 | loss "));
    CHECK_THAT(lines[9], contains("step  6/12 | epoch 1 | mean loss "));
    CHECK_THAT(lines[10], contains("step  6/12 | val loss ") && contains(" | accuracy ") && contains(" targets in "));
    CHECK_THAT(lines[11], contains("step 10/12 | loss "));
    CHECK_THAT(lines[12], contains("step 12/12 | loss "));
    CHECK_THAT(lines[13], contains("step 12/12 | epoch 2 | mean loss "));
    CHECK_THAT(lines[14], contains("step 12/12 | val loss "));
    CHECK_THAT(lines[15], contains("done after 12 steps in ") && contains(": loss ") && contains(", val loss ") &&
                              contains("; saved in " + run));
    CHECK(check_saved(run) == 12);
}

TEST_CASE("metrics.jsonl has every step and reads back exactly, and printed losses are those") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome = call(tiny_training(run, {"--set", "train.gradient_accumulation_steps=2"}));
    REQUIRE(outcome.code == 0);
    const std::vector<json> metrics = metrics_of(run);
    REQUIRE(metrics.size() == 12);
    double sum = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        CHECK(metrics[i].at("step") == i + 1);
        for (const char* name : {"loss", "learning_rate", "grad_norm", "tokens_per_second", "elapsed_s"}) {
            CHECK(metrics[i].at(name).get<double>() > 0);
        }
        CHECK(metrics[i].contains("val_loss") == ((i + 1) % 6 == 0));
        sum += metrics[i].at("loss").get<double>();
        if ((i + 1) % 6 != 0) continue;
        CHECK(metrics[i].at("epoch") == (i + 1) / 6);
        CHECK(metrics[i].at("epoch_mean_loss").get<double>() == Approx(sum / 6).epsilon(1e-12));
        sum = 0;
    }
    char printed[32];
    std::snprintf(printed, sizeof printed, "loss %.4f |", metrics[0].at("loss").get<double>());
    CHECK_THAT(outcome.out, contains(printed));
}

TEST_CASE("On a terminal one line is redrawn, while NO_COLOR and dumb terminals get no colour") {
    if (!terminals_exist()) {
        SUCCEED("skipped");
        return;
    }
    const TemporaryFolder folder;
    const auto train = [&](const std::string& name, std::vector<std::string> environment) {
        return run_causeway({tiny_training(folder.file(name)), Stdout::terminal, std::move(environment), {}});
    };
    const Outcome coloured = train("a", {"TERM=xterm", "NO_COLOR="});
    CHECK(coloured.code == 0);
    CHECK_THAT(coloured.out, contains("\r\x1b[36mstep  1/12 | loss ") && contains("\x1b[0m\x1b[K") &&
                                 contains("done after 12 steps"));
    for (const std::string variable : {"NO_COLOR=1", "TERM=dumb"}) {
        const Outcome plain = train(variable, {variable == "TERM=dumb" ? "NO_COLOR=" : "TERM=xterm", variable});
        CHECK_THAT(plain.out, contains("\rstep  1/12 | loss "));
        CHECK(plain.out.find("\x1b[36m") == std::string::npos);
        CHECK(plain.out.find("\x1b[1m") == std::string::npos);
    }
}

TEST_CASE("The redrawn line fits a terminal of 80 columns") {
    if (!terminals_exist()) {
        SUCCEED("skipped");
        return;
    }
    const TemporaryFolder folder;
    const Outcome outcome =
        run_causeway({tiny_training(folder.file("run")), Stdout::narrow_terminal, {"NO_COLOR=1", "TERM=xterm"}, {}});
    CHECK(outcome.code == 0);
    std::size_t lines = 0;
    for (std::size_t at = outcome.out.find("\rstep"); at != std::string::npos;
         at = outcome.out.find("\rstep", at + 1)) {
        const std::string line = outcome.out.substr(at + 1, outcome.out.find("\x1b[K", at) - at - 1);
        CHECK(line.size() <= 79);
        CHECK_THAT(line, contains("/12 loss ") && contains(" tok/s ") && contains(" eta 0:0"));
        ++lines;
    }
    CHECK(lines >= 2);  // the first and the last
}

TEST_CASE("Quiet training prints nothing") {
    const TemporaryFolder folder;
    const Outcome outcome = call(tiny_training(folder.file("run"), {"--quiet"}));
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "");
    CHECK(outcome.err == "");
    CHECK(check_saved(folder.file("run")) == 12);
}

TEST_CASE("An existing run is replaced only with --overwrite, and not by a config that fails") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    REQUIRE(call(tiny_training(run)).code == 0);
    const std::string parameters = content_of(run + "/model.safetensors");
    const Outcome refused = call(tiny_training(run));
    CHECK(refused.code == 1);
    CHECK(refused.err == "causeway train: " + run + ": holds a run already (model.safetensors); --resume " + run +
                             " goes on with it, --overwrite replaces it, or choose another --out\n");
    CHECK(call(tiny_training(run,
                             {"--overwrite", "--set", "runtime.memory_limit_mb=1", "--set", "train.batch_size=4096"}))
              .code == 1);
    CHECK(content_of(run + "/model.safetensors") == parameters);
    CHECK(call(tiny_training(run, {"--overwrite", "--set", "train.seed=7"})).code == 0);
    CHECK(content_of(run + "/model.safetensors") != parameters);
    CHECK(call(tiny_training("")).err == "causeway train: --out: is empty, expected a folder for the run\n");
    const std::string file = folder.write("file", "");
    CHECK_THAT(call(tiny_training(file)).err, contains(file + ": exists and is no folder"));
}

TEST_CASE("Ctrl-C and SIGTERM end a run with what was learned saved") {
    const TemporaryFolder folder;
    std::vector<Stdout> outputs{Stdout::pipe};
    if (terminals_exist()) outputs.push_back(Stdout::terminal);
    for (const int signal : {SIGINT, SIGTERM}) {
        for (const Stdout output : outputs) {
            const std::string run = folder.file(std::to_string(signal) + std::to_string(static_cast<int>(output)));
            bool sent = false;
            const Outcome outcome =
                run_causeway({endless_training(run), output, {}, [&](pid_t process, const std::string& out) {
                                  if (sent || out.find("step ") == std::string::npos) return;
                                  sent = kill(process, signal) == 0;
                              }});
            CHECK(outcome.code == 128 + signal);
            const std::int64_t steps = check_saved(run);
            const std::string name = signal == SIGINT ? "SIGINT" : "SIGTERM";
            CHECK(outcome.err == "causeway train: ended by " + name + " after step " + std::to_string(steps) +
                                     ", saved in " + run + "; --resume " + run + " goes on\n");
            CHECK_THAT(outcome.out, contains("stopped after " + std::to_string(steps) + " step"));
        }
    }
}

TEST_CASE("Without standard error no message goes into a file of the run") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    Start start{endless_training(run), Stdout::pipe, {}, {}, [] { close(STDERR_FILENO); }};
    bool sent = false;
    start.on_output = [&](pid_t process, const std::string& out) {
        if (!sent && out.find("step ") != std::string::npos) sent = kill(process, SIGTERM) == 0;
    };
    CHECK(run_causeway(start).code == 143);
    check_saved(run);
}

TEST_CASE("A file that may not grow ends a run, saved, with an error") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const auto limit_files = [] {
        const rlimit limit{32768, 32768};
        setrlimit(RLIMIT_FSIZE, &limit);
    };
    std::vector<std::string> arguments = endless_training(run);
    // On a slow machine the report would be the first that grows too large.
    arguments.insert(arguments.end(), {"--set", "train.report=false"});
    const Outcome outcome = run_causeway({arguments, Stdout::pipe, {}, {}, limit_files});
    CHECK(outcome.code == 1);
    CHECK(outcome.err == "causeway train: " + run + "/metrics.jsonl: cannot write: File too large\n");
    CHECK(check_saved(run) > 50);
}

TEST_CASE("B63: a second Ctrl-C ends a run at once") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run"), metrics = run + "/metrics.jsonl";
    const std::string text = folder.write("text.txt", std::string(2000, 'x'));
    // One step of this takes minutes.
    const std::vector<std::string> arguments{
        "train", config_path("kjv_bytes.json"), "--out", run,
        "--set", "data.path=" + text,           "--set", "train.gradient_accumulation_steps=65536"};
    bool sent = false;
    const Outcome outcome = run_causeway({arguments, Stdout::pipe, {}, [&](pid_t process, const std::string&) {
                                              if (sent) return;
                                              for (int i = 0; i < 30'000 && !std::filesystem::exists(metrics); ++i)
                                                  usleep(1000);
                                              kill(process, SIGINT);
                                              usleep(50'000);
                                              sent = kill(process, SIGINT) == 0;
                                          }});
    CHECK(sent);
    CHECK(outcome.code == 130);
    CHECK(outcome.signal == 0);
    CHECK(outcome.out.find("stopped") == std::string::npos);
    CHECK(!std::filesystem::exists(run + "/model.safetensors"));
}

TEST_CASE("When standard output goes away the run ends, saved, with an error") {
    const TemporaryFolder folder;
    // Closed before the first word: nothing was learned, nothing is left behind.
    const std::string early = folder.file("early");
    const Outcome closed = run_causeway({endless_training(early), Stdout::closed, {}, {}});
    CHECK(closed.code == 1);
    CHECK(closed.err == "causeway train: cannot write to standard output: Broken pipe\n");
    CHECK(!std::filesystem::exists(early));
    // As in `causeway train ... | head -n 7`: the reader leaves after the first step.
    const std::string late = folder.file("late");
    std::string command = std::string("'") + CAUSEWAY_CLI + "'";
    for (const std::string& argument : endless_training(late)) command += " '" + argument + "'";
    command = "{ " + command + " 2> '" + folder.file("err") + "'; echo $? > '" + folder.file("code") +
              "'; } | head -n 7 > /dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
    CHECK(content_of(folder.file("code")) == "1\n");
    const std::int64_t steps = check_saved(late);
    CHECK(content_of(folder.file("err")) ==
          "causeway train: cannot write to standard output: Broken pipe; stopped after step " + std::to_string(steps) +
              ", saved in " + late + "\n");
}

TEST_CASE("B70: what is wrong with a config or its data is said before anything is made") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const auto error = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"train", config_path("kjv_bytes.json"), "--out", run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == 1);
        CHECK(outcome.out == "");
        CHECK(lines_of(outcome.err).size() == 1);
        CHECK(!std::filesystem::exists(run));
        return outcome.err;
    };
    CHECK_THAT(error({"--set", "data.path=no/such.txt"}),
               contains("causeway train: no/such.txt: no such file") && contains("tools/get_kjv.sh"));
    CHECK_THAT(error({"--set", "train.batch_size=1.5"}), contains("train.batch_size: found 1.5, expected an integer"));
    CHECK_THAT(error({"--set", "train.learning_rate=\"1e-4\""}),
               contains("train.learning_rate: found the string \"1e-4\""));
    CHECK_THAT(error({"--set", "train.adam_beta1=1"}), contains("train.adam_beta1: found 1, expected "));
    CHECK_THAT(error({"--set", "data.path=" + folder.write("short.txt", "too short")}), contains("short.txt"));
    CHECK_THAT(error({"--set", "data.path=" + config_path("kjv_bytes.json"), "--set", "runtime.memory_limit_mb=1"}),
               contains("1"));
}

TEST_CASE("A run that diverges says where, and keeps what it had") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    // Weights around 1000 in six layers without norms: activations beyond a float.
    const Outcome outcome = call(tiny_training(
        run, {"--set", "train.learning_rate=1000", "--set", "train.max_steps=50", "--set", "model.num_hidden_layers=6",
              "--set", "train.optimizer=adam", "--set", "train.eval_every=0"}));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("causeway train: step "));
    CHECK(check_saved(run) > 0);
}

TEST_CASE("train --profile ends a run with a table of its ops, quiet or not, and after Ctrl-C") {
    const TemporaryFolder folder;
    const Outcome outcome = call(tiny_training(folder.file("run"), {"--profile"}));
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("profile of 12 training steps on ") && contains("peaks measured: ") &&
                                contains("linear_weight_gradient") && contains("adam") && contains("all ops") &&
                                contains("outside the plan") && contains("evaluation  ") &&
                                contains(" in 2 passes\n") && contains("metrics and progress"));
    const Outcome quiet = call(tiny_training(folder.file("quiet"), {"--profile", "--quiet"}));
    CHECK(quiet.out.starts_with("profile of 12 training steps on "));
    bool sent = false;
    std::vector<std::string> arguments = endless_training(folder.file("stopped"));
    arguments.push_back("--profile");
    const Outcome stopped = run_causeway({arguments, Stdout::pipe, {}, [&](pid_t process, const std::string& out) {
                                              if (sent || out.find("step ") == std::string::npos) return;
                                              sent = kill(process, SIGINT) == 0;
                                          }});
    CHECK(stopped.code == 130);
    CHECK_THAT(stopped.out, contains("profile of ") && contains("all ops"));
}

TEST_CASE("train --trace writes a Chrome trace of some steps, and changes nothing of what is learned") {
    const TemporaryFolder folder;
    const auto traced_steps = [&](const std::string& run, const std::vector<std::string>& more) {
        // In the folder of the run, which is made first.
        const std::string file = folder.file(run) + "/trace.json";
        std::vector<std::string> arguments{"--trace", file};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = call(tiny_training(folder.file(run), arguments));
        CHECK(outcome.code == 0);
        CHECK(outcome.err == "");
        std::vector<std::string> steps;
        const json trace = json::parse(content_of(file));
        for (const json& event : trace.at("traceEvents")) {
            if (event.value("cat", "") == "training step") steps.push_back(event.at("name"));
        }
        return steps;
    };
    CHECK(traced_steps("a", {}).size() == 5);
    CHECK(traced_steps("b", {"--trace-steps", "2", "--profile"}) ==
          std::vector<std::string>{"training step 2", "training step 3"});
    CHECK(traced_steps("c", {"--trace-steps", "100"}).size() == 11);
    CHECK(traced_steps("d", {"--set", "train.max_steps=1"}) == std::vector<std::string>{"training step 1"});
    CHECK(call(tiny_training(folder.file("plain"))).code == 0);
    for (const std::string run : {"a", "b"}) {
        CHECK(content_of(folder.file(run) + "/model.safetensors") ==
              content_of(folder.file("plain") + "/model.safetensors"));
    }
    // Where it cannot be written is said before the first step.
    const Outcome nowhere = call(tiny_training(folder.file("e"), {"--trace", folder.file("no/such/trace.json")}));
    CHECK(nowhere.code == 1);
    CHECK_THAT(nowhere.err, contains("no/such/trace.json"));
    CHECK(!std::filesystem::exists(folder.file("e") + "/metrics.jsonl"));
    CHECK(call(tiny_training(folder.file("e"), {"--trace-steps", "3"})).code == 2);
    CHECK(call(tiny_training(folder.file("e"), {"--trace", "t.json", "--trace-steps", "0"})).code == 2);
}
