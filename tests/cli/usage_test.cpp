#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace {

const std::vector<std::string> subcommands{"train", "generate", "inspect", "eval", "import", "export",
                                           "plan",  "trace",    "check",   "info", "schema", "version"};

/// One complete line that names the command.
void check_complaint(const Outcome& outcome, int code, const std::string& line) {
    CHECK(outcome.code == code);
    CHECK(outcome.out == "");
    CHECK(outcome.err == line + "\n");
}

}  // namespace

TEST_CASE("Every subcommand has help with examples") {
    const Outcome all = call({"--help"});
    CHECK(all.code == 0);
    CHECK(all.err == "");
    for (const std::string& name : subcommands) {
        CHECK_THAT(all.out, contains("  " + name + " "));
        const Outcome help = call({name, "--help"});
        CHECK(help.code == 0);
        CHECK(help.err == "");
        CHECK_THAT(help.out, contains("Usage: causeway " + name) && contains("Examples:\n  "));
        CHECK(help.out.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("The version is that of the project") {
    CHECK(call({"--version"}).out == "causeway 0.1.0\n");
    CHECK(call({"version"}).out == "causeway 0.1.0\n");
}

TEST_CASE("B70: a command line that cannot be understood is one line and exit code 2") {
    check_complaint(call({}), 2, "causeway: a subcommand is missing; `causeway --help` lists them");
    check_complaint(call({"trian"}), 2,
                    "causeway: \"trian\" is no subcommand, did you mean \"train\"?; there are: train, generate, "
                    "inspect, report, eval, import, export, plan, trace, check, info, schema, version");
    check_complaint(
        call({"frobnicate"}), 2,
        "causeway: \"frobnicate\" is no subcommand; there are: train, generate, inspect, report, eval, import, "
        "export, plan, trace, check, info, schema, version");
    check_complaint(call({"--colour"}), 2, "causeway: unknown option --colour; see `causeway --help`");
    check_complaint(call({"plan", "a.json", "--jsno"}), 2,
                    "causeway plan: unknown option --jsno, did you mean --json?; see `causeway plan --help`");
    check_complaint(call({"plan", "a.json", "--sequence_length=3"}), 2,
                    "causeway plan: unknown option --sequence_length, did you mean --sequence-length?; see `causeway "
                    "plan --help`");
    check_complaint(call({"plan", "a.json", "b.json"}), 2,
                    "causeway plan: unexpected argument \"b.json\"; see `causeway plan --help`");
    check_complaint(call({"plan"}), 2, "causeway plan: CONFIG is required; see `causeway plan --help`");
    check_complaint(call({"train", "a.json"}), 2, "causeway train: --out is required; see `causeway train --help`");
    check_complaint(call({"train", "a.json", "--otu", "run"}), 2,
                    "causeway train: unknown option --otu, did you mean --out?; see `causeway train --help`");
    check_complaint(
        call({"generate", "run", "--promt", "a"}), 2,
        "causeway generate: unknown option --promt, did you mean --prompt?; see `causeway generate --help`");
    check_complaint(call({"generate", "run"}), 2,
                    "causeway generate: --prompt or --ids or --batch is required; see `causeway generate --help`");
    CHECK_THAT(call({"generate", "run", "--prompt", "a", "--top-k", "many"}).err,
               contains("causeway generate: ") && contains("many") && contains("see `causeway generate --help`"));
    check_complaint(call({"generate", "run", "--prompt", "a", "--top-k", "-3"}), 2,
                    "causeway generate: --top-k: found -3, expected an integer from 0 to 9223372036854775807; see "
                    "`causeway generate --help`");
    check_complaint(call({"generate", "run", "--prompt", "a", "--seed", "18446744073709551616"}), 2,
                    "causeway generate: --seed: found 18446744073709551616, expected an integer from 0 to "
                    "18446744073709551615; see `causeway generate --help`");
    CHECK(call({"trace", "a.json", "--seed", "-1"}).code == 2);
    CHECK(call({"generate", "run", "--prompt", "a", "--max-new-tokens", "1.5"}).code == 2);
    CHECK(call({"plan", "a.json", "--mode", "decoding"}).code == 2);
    CHECK(call({"plan", "a.json", "--json", "--dot"}).code == 2);
}

TEST_CASE("B70: a missing file or a bad field is one line and exit code 1") {
    const TemporaryFolder folder;
    const std::string none = folder.file("none.json");
    for (const std::string name : {"plan", "trace", "check"}) {
        check_complaint(call({name, none}), 1,
                        "causeway " + name + ": " + none + ": cannot open: No such file or directory");
    }
    check_complaint(call({"train", none, "--out", folder.file("run")}), 1,
                    "causeway train: " + none + ": cannot open: No such file or directory");
    const Outcome misspelt = call({"plan", config_path("repeat_h4.json"), "--set", "train.learing_rate=1"});
    CHECK(misspelt.code == 1);
    CHECK_THAT(misspelt.err, contains("causeway plan: train.learing_rate: ") && contains("\"train.learning_rate\""));
    CHECK(lines_of(misspelt.err).size() == 1);
    const Outcome wrong = call({"plan", config_path("repeat_h4.json"), "--batch", "0"});
    CHECK(wrong.code == 1);
    CHECK_THAT(wrong.err, contains("train.batch_size: found 0, expected an integer from 1"));
}

TEST_CASE("A closed or full standard output is an error of its own") {
    const Outcome closed = run_causeway({{"schema"}, Stdout::closed, {}, {}});
    check_complaint(closed, 1, "causeway schema: cannot write to standard output: Broken pipe");
    const Outcome full = run_causeway({{"schema"}, Stdout::full, {}, {}});
    check_complaint(full, 1, "causeway schema: cannot write to standard output: No space left on device");
}

TEST_CASE("The schema is that of configs/") {
    const Outcome schema = call({"schema"});
    CHECK(schema.code == 0);
    CHECK(nlohmann::json::parse(schema.out) == nlohmann::json::parse(content_of(config_path("causeway.schema.json"))));
}

TEST_CASE("Info names the machine, and an instruction set the CPU lacks is an error") {
    const Outcome info = call({"info", "--no-peaks"});
    CHECK(info.code == 0);
    CHECK_THAT(info.out, contains("\nisa      ") && contains("reference") && contains("\nthreads  "));
    const Outcome forced = run_causeway({{"info", "--no-peaks"}, Stdout::pipe, {"CAUSEWAY_ISA=reference"}, {}});
    CHECK_THAT(forced.out, contains("\nisa      reference (here: "));
    const Outcome unknown = run_causeway({{"info", "--no-peaks"}, Stdout::pipe, {"CAUSEWAY_ISA=mmx"}, {}});
    CHECK(unknown.code == 1);
    CHECK_THAT(unknown.err, contains("causeway info: ") && contains("mmx"));
}
