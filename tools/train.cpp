#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "inspect/machine.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"
#include "stop_signal.hpp"
#include "train/resume.hpp"
#include "train/trainer.hpp"
#include "train_files.hpp"
#include "train_records.hpp"
#include "train_resume.hpp"
#include "train_samples.hpp"
#include "train_texts.hpp"
#include "train_watch.hpp"
#include "training_run.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "DIR receives the model and the records of the run (docs/report.md has the list): report.html can be opened while\n"
    "it goes on, and from checkpoints/ --resume DIR goes on to the same bits as without the interruption\n"
    "(docs/resume.md).\n"
    "Ctrl-C (SIGINT), SIGTERM and SIGHUP end the run after the current step with a checkpoint; exit code 130, 143 or\n"
    "129. A second one ends it at once. A trace that cannot be written does not end it; the exit code is 1 then.\n"
    "\n"
    "Examples:\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/kjv_bytes\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/mine --set data.path=my.txt --set train.max_steps=500\n"
    "  causeway train configs/repeat_h4.json --out build/runs/repeat_h4 --overwrite --quiet\n"
    "  causeway train my_data.json --init-from gpt2/ --out build/runs/tuned\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/profiled --set train.max_steps=50 --profile\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/traced --set train.max_steps=10 --trace trace.json\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/long --set train.checkpoint_every=500\n"
    "  causeway train --resume build/runs/long\n"
    "  causeway train --resume build/runs/long --set train.max_steps=4000";

struct Arguments {
    std::string config;
    std::string out;
    std::string init_from;
    std::string resume;
    std::vector<std::string> overrides;
    bool quiet = false;
    bool overwrite = false;
    TrainWatchOptions watch;
};

/// The config of the run. With --init-from the model is that of the starting point, as far as the config says nothing.
Config config_of(const Arguments& arguments) {
    if (arguments.init_from.empty()) return load_config(arguments.config, arguments.overrides);
    const Config start = load_run({arguments.init_from});
    return load_config(arguments.config, arguments.overrides, &start.model);
}

void load_start(const Arguments& arguments, train::Trainer& trainer) {
    if (arguments.init_from.empty()) return;
    warn_of_unused("causeway train", arguments.init_from, trainer.load_parameters(arguments.init_from));
}

struct Machine {
    MemoryUse memory;
    RunFacts facts;
};

/// Looks whether training and watching it find room, and how fast the machine is.
Machine examine(train::Trainer& trainer, const Arguments& arguments, std::size_t available) {
    Machine machine;
    machine.memory.available = available;
    const std::size_t model = trainer.memory_bytes();
    machine.memory.watching = check_watch_memory(trainer, arguments.watch, model, available);
    machine.memory.total = model + machine.memory.watching;
    const TrainConfig& train = trainer.config().train;
    machine.facts = {trainer.step_limit().steps.value_or(0), train.max_time_s, train.log_every,
                     trainer.flops_per_step(),
                     arguments.quiet ? 0 : measure_flop_peak(trainer.plan("train").isa, trainer.threads())};
    return machine;
}

/// What a run that begins and one that goes on differ in.
struct Start {
    RunFolder folder;
    std::string what;   ///< of the text before the first step
    std::string notes;  ///< below it
    AppendFile::Mode metrics;
    /// Makes the folder that of this run. Called once there is room, before the records.
    std::function<void(train::RunCheckpoints&)> open_folder;
};

int run_from(const Start& start, train::Trainer& trainer, TrainSamples& samples, const Arguments& arguments,
             std::size_t available) {
    const Machine machine = examine(trainer, arguments, available);
    const double peak = machine.facts.peak_flops_per_second;
    TrainWatch watch(trainer, arguments.watch);
    if (!arguments.quiet) {
        print(start_text(start.what, trainer, machine.memory, peak, start.folder.folder) + start.notes);
    }
    StopSignal signal;  // before the first file
    train::RunCheckpoints checkpoints(start.folder, trainer);
    start.open_folder(checkpoints);
    TrainRecords records(trainer, samples, start.folder, peak);
    return TrainingRun(
        {trainer, checkpoints, watch, records, signal, start.folder, machine.facts, start.metrics, arguments.quiet})();
}

int run_new(const Arguments& arguments) {
    const Config config = config_of(arguments);
    const TrainFiles files{{arguments.out}, arguments.config, arguments.watch.trace, arguments.overwrite};
    check_files(files, config);
    const std::size_t available = available_memory();
    train::TrainerOptions options;
    TrainSamples samples(config, options);
    train::Trainer trainer(config, std::move(options));
    samples.attach(trainer);
    load_start(arguments, trainer);
    std::optional<FolderLock> lock;  // until the run has ended
    const auto open_folder = [&](train::RunCheckpoints& checkpoints) {
        lock = empty_folder(files);
        // The config does not say where the weights came from.
        if (!arguments.init_from.empty()) checkpoints.save("");
        write_config(files.run, config);
    };
    const std::string from = arguments.init_from.empty() ? "" : " from " + arguments.init_from;
    return run_from({files.run, "training " + arguments.config + from, "", AppendFile::Mode::truncate, open_folder},
                    trainer, samples, arguments, available);
}

int resume_run(const Arguments& arguments) {
    const std::size_t available = available_memory();
    InterruptedRun run(arguments.resume, arguments.overrides);
    check_trace({run.folder(), "", arguments.watch.trace, false}, run.config());
    train::TrainerOptions options;
    TrainSamples samples(run.config(), options);
    train::Trainer trainer(run.config(), std::move(options));
    samples.attach(trainer);
    run.load_into(trainer);
    for (const std::string& warning : run.warnings()) complain("causeway train", warning);
    if (const auto ended_by = trainer.reached_limit(trainer.state().elapsed_seconds)) {
        if (!arguments.quiet) print(run.finished_text(trainer, *ended_by));
        return exit_success;
    }
    const auto open_folder = [&](train::RunCheckpoints& checkpoints) { run.continue_files(checkpoints); };
    return run_from({run.folder(), run.what(), run.notes_text(), AppendFile::Mode::append, open_folder}, trainer,
                    samples, arguments, available);
}

int run_train(const Arguments& arguments) {
    return arguments.resume.empty() ? run_new(arguments) : resume_run(arguments);
}

}  // namespace

Command add_train(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("train", "Train the model of a config and save it in a folder");
    auto arguments = std::make_shared<Arguments>();
    CLI::Option* config =
        sub->add_option("CONFIG", arguments->config, "The config, a JSON file (docs/config.md)")->type_name("FILE");
    CLI::Option* out =
        sub->add_option("--out", arguments->out, "Folder for the run, made if need be")->type_name("DIR");
    CLI::Option* init_from =
        sub->add_option("--init-from", arguments->init_from,
                        "Start from the model of this run, HuggingFace folder or llm.c file; CONFIG's section model "
                        "then names what differs")
            ->type_name("DIR");
    CLI::Option* resume = sub->add_option("--resume", arguments->resume,
                                          "Go on with the run of this folder, from its newest checkpoint, instead of "
                                          "CONFIG and --out")
                              ->type_name("DIR");
    add_overrides(sub, arguments->overrides);
    CLI::Option* overwrite = sub->add_flag("--overwrite", arguments->overwrite, "Replace a run that is in DIR already");
    sub->add_flag("--quiet", arguments->quiet, "Print nothing but errors, and the table of --profile");
    add_watch_options(sub, arguments->watch);
    for (CLI::Option* other : {config, out, init_from, overwrite}) resume->excludes(other);
    sub->parse_complete_callback([config, out, resume] {
        if (resume->count() > 0) return;
        for (const CLI::Option* needed : {config, out}) {
            if (needed->count() == 0) throw CLI::RequiredError(needed->get_name());
        }
    });
    sub->footer(footer);
    return {sub, [arguments] { return run_train(*arguments); }};
}

}  // namespace causeway::cli
