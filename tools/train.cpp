#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "base/cpu.hpp"
#include "causeway/error.hpp"
#include "causeway/version.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "inspect/machine.hpp"
#include "inspect/units.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"
#include "stop_signal.hpp"
#include "text.hpp"
#include "train/metrics.hpp"
#include "train/trainer.hpp"
#include "train_files.hpp"
#include "train_progress.hpp"
#include "train_records.hpp"
#include "train_samples.hpp"
#include "train_watch.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "DIR receives metrics.jsonl (one object a step), config.json (every field, as resolved), model.safetensors, "
    "run.json\n"
    "(machine and plan), report.html (open it while the run goes on; train.report), samples.jsonl "
    "(train.sample_every)\n"
    "and TensorBoard's event files (train.tensorboard).\n"
    "Ctrl-C (SIGINT) and SIGTERM end the run after the current step with what was learned saved; exit code 130 or\n"
    "143. A second one ends it at once. A trace that cannot be written does not end it; the exit code is 1 then.\n"
    "\n"
    "Examples:\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/kjv_bytes\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/mine --set data.path=my.txt --set train.max_steps=500\n"
    "  causeway train configs/repeat_h4.json --out build/runs/repeat_h4 --overwrite --quiet\n"
    "  causeway train my_data.json --init-from gpt2/ --out build/runs/tuned\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/profiled --set train.max_steps=50 --profile\n"
    "  causeway train configs/kjv_bytes.json --out build/runs/traced --set train.max_steps=10 --trace trace.json";

struct Arguments {
    std::string config;
    std::string out;
    std::string init_from;
    std::vector<std::string> overrides;
    bool quiet = false;
    bool overwrite = false;
    TrainWatchOptions watch;
};

std::string plural(std::int64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string model_text(const ModelConfig& model, std::int64_t parameters) {
    return fmt::format("{} parameters, {}, {}, hidden {}, context {}, vocabulary {}", count_text(parameters),
                       plural(model.num_hidden_layers, "layer"), plural(model.num_attention_heads, "head"),
                       model.hidden_size, model.max_position_embeddings, model.vocab_size);
}

/// What training takes, and what of it goes to watching, of what there is.
struct MemoryUse {
    std::size_t total = 0, watching = 0, available = 0;
};

std::string memory_text(const MemoryUse& memory) {
    std::string text = fmt::format("memory  {} of {} available", bytes_text(static_cast<double>(memory.total)),
                                   bytes_text(static_cast<double>(memory.available)));
    if (memory.watching > 0) text += fmt::format(", {} for --trace", bytes_text(static_cast<double>(memory.watching)));
    return text + "\n";
}

std::string start_text(const Arguments& arguments, train::Trainer& trainer, const MemoryUse& memory, double peak) {
    const Config& config = trainer.config();
    const ExecutionPlan& plan = trainer.plan("train");
    const std::int64_t micro_batches = config.train.gradient_accumulation_steps;
    std::string text = fmt::format("causeway {}: training {}{}\n", version(), arguments.config,
                                   arguments.init_from.empty() ? "" : " from " + arguments.init_from);
    text += fmt::format("model   {}\n", model_text(config.model, trainer.parameter_count()));
    text += fmt::format("data    {}\n", trainer.data_description());
    text += memory_text(memory);
    text += fmt::format("plan    {} steps in {} groups, {}FLOP a training step\n", plan.steps.size(),
                        plan.groups.size(), quantity_text(trainer.flops_per_step()));
    text += fmt::format("machine {}, {} on {}, measured peak {}FLOP/s\n", cpu_model(), to_string(plan.isa),
                        plural(trainer.threads(), "thread"), quantity_text(peak));
    return text + fmt::format("run     {} steps of {}{} x {} tokens, seed {}, into {}\n", config.train.max_steps,
                              micro_batches > 1 ? fmt::format("{} x ", micro_batches) : "", config.train.batch_size,
                              config.train.sequence_length, config.train.seed, arguments.out);
}

std::string summary_text(const train::RunResult& result, std::int64_t steps, const std::string& folder) {
    const std::string time = result.seconds < 60 ? seconds_text(result.seconds) : duration_text(result.seconds);
    std::string text = fmt::format("{} after {} in {}: loss {:.4f}", result.stopped ? "stopped" : "done",
                                   plural(steps, "step"), time, result.last_step.loss);
    if (result.validation) text += fmt::format(", val loss {:.4f}", result.validation->loss);
    return text + fmt::format("; saved in {}\n", folder);
}

/// Steps until the end, a signal, or the loss of standard output, and saves in each case. What the run throws comes
/// through after what was learned is saved.
class TrainingRun {
  public:
    TrainingRun(train::Trainer& trainer, const RunFolder& run, const RunFacts& facts, TrainWatch& watch,
                TrainRecords& records, StopSignal& signal, bool quiet)
        : trainer_(trainer),
          run_(run),
          quiet_(quiet),
          watch_(watch),
          records_(records),
          signal_(signal),
          metrics_(run.metrics()),
          display_(facts, stdout_is_terminal(), stdout_has_colour()) {}

    int operator()() {
        train::RunHooks hooks;
        hooks.stop = &signal_.flag();
        hooks.on_step = [this](const train::Progress& progress) {
            metrics_.write(progress);
            warn(records_.after_step(progress));
            warn(watch_.after_step(progress));
            say([&] { display_.show(progress); });
        };
        const auto begin = std::chrono::steady_clock::now();
        const auto seconds = [begin] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        train::RunResult result;
        try {
            result = trainer_.run(hooks);
        } catch (const Error& error) {
            const double taken = seconds();
            const std::string lost = save_after(error);
            warn(records_.end(report::RunState::failed, error.what()));
            show_watched(taken);
            if (lost.empty()) throw;
            throw IoError(lost);
        }
        const double taken = seconds();
        if (trainer_.steps_done() > 0) {
            trainer_.save(run_.folder);
            say([&] { display_.finish(); });
            say([&] { print(summary_text(result, trainer_.steps_done(), run_.folder)); });
        }
        warn(records_.end(result.stopped ? report::RunState::stopped : report::RunState::done, end_text(result)));
        show_watched(taken);
        return outcome(result);
    }

  private:
    /// Says something on standard output. When nobody listens any more the run ends as after Ctrl-C.
    template <class F>
    void say(F&& f) {
        if (!quiet_) say_always(f);
    }

    template <class F>
    void say_always(F&& f) {
        if (!lost_output_.empty()) return;
        try {
            f();
        } catch (const OutputError& error) {
            lost_output_ = error.what();
            signal_.request();
        }
    }

    /// On standard error, below what is being redrawn.
    void warn(const std::string& trouble) {
        if (trouble.empty()) return;
        say([&] { display_.finish(); });
        complain("causeway train", trouble);
    }

    /// After a run of that many seconds: the rest of the trace, and the profile.
    void show_watched(double run_seconds) {
        warn(watch_.after_run());
        if (lost_output_.empty()) say_always([&] { print(watch_.profile(run_seconds)); });
    }

    /// What is to be said when what was learned cannot be saved.
    std::string save_after(const Error& error) {
        say([&] { display_.finish(); });
        if (trainer_.steps_done() == 0) return "";
        try {
            trainer_.save(run_.folder);
            return "";
        } catch (const Error& second) {
            return fmt::format("{}; and what was learned cannot be saved: {}", error.what(), second.what());
        }
    }

    int outcome(const train::RunResult& result) const {
        if (!lost_output_.empty()) {
            const std::int64_t steps = trainer_.steps_done();
            const std::string end = result.stopped ? fmt::format("stopped after step {}", steps)
                                                   : fmt::format("done after {}", plural(steps, "step"));
            throw OutputError(fmt::format("{}; {}, saved in {}", lost_output_, end, run_.folder));
        }
        if (signal_.number() == 0) return watch_.failed() || records_.failed() ? exit_failure : exit_success;
        complain("causeway train", signal_text(result));
        return 128 + signal_.number();
    }

    /// Why the run ended, for its record.
    std::string end_text(const train::RunResult& result) const {
        const std::string steps = plural(trainer_.steps_done(), "step");
        if (!result.stopped) return "all of " + steps;
        return fmt::format("{} after {}", signal_.number() > 0 ? signal_.name() : "nobody listened any more", steps);
    }

    std::string signal_text(const train::RunResult& result) const {
        if (trainer_.steps_done() == 0) return fmt::format("ended by {} before the first step", signal_.name());
        if (!result.stopped)
            return fmt::format("{} came after the last step; saved in {}", signal_.name(), run_.folder);
        return fmt::format("ended by {} after step {}, saved in {}", signal_.name(), trainer_.steps_done(),
                           run_.folder);
    }

    train::Trainer& trainer_;
    RunFolder run_;
    bool quiet_;
    TrainWatch& watch_;
    TrainRecords& records_;
    StopSignal& signal_;
    train::MetricsWriter metrics_;
    TrainProgress display_;
    std::string lost_output_;
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

int run_train(const Arguments& arguments) {
    const Config config = config_of(arguments);
    const TrainFiles files{{arguments.out}, arguments.config, arguments.watch.trace, arguments.overwrite};
    check_files(files, config);
    MemoryUse memory;
    memory.available = available_memory();
    train::TrainerOptions options;
    TrainSamples samples(config, options);
    train::Trainer trainer(config, std::move(options));
    samples.attach(trainer);
    load_start(arguments, trainer);
    const std::size_t model = trainer.runtime().memory_bytes();
    memory.watching = check_watch_memory(trainer, arguments.watch, model, memory.available);
    memory.total = model + memory.watching;
    TrainWatch watch(trainer, arguments.watch);
    const RunFacts facts{config.train.max_steps, config.train.log_every, trainer.flops_per_step(),
                         arguments.quiet ? 0 : measure_flop_peak(trainer.plan("train").isa, trainer.threads())};
    if (!arguments.quiet) print(start_text(arguments, trainer, memory, facts.peak_flops_per_second));
    StopSignal signal;  // before the first file
    begin_run(files, config);
    TrainRecords records(trainer, samples, files.run, facts.peak_flops_per_second);
    return TrainingRun(trainer, files.run, facts, watch, records, signal, arguments.quiet)();
}

}  // namespace

Command add_train(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("train", "Train the model of a config and save it in a folder");
    auto arguments = std::make_shared<Arguments>();
    add_config(sub, arguments->config);
    sub->add_option("--out", arguments->out, "Folder for the run, made if need be")->required()->type_name("DIR");
    sub->add_option("--init-from", arguments->init_from,
                    "Start from the model of this run, HuggingFace folder or llm.c file; CONFIG's section model then "
                    "names what differs")
        ->type_name("DIR");
    add_overrides(sub, arguments->overrides);
    sub->add_flag("--overwrite", arguments->overwrite, "Replace a run that is in DIR already");
    sub->add_flag("--quiet", arguments->quiet, "Print nothing but errors, and the table of --profile");
    add_watch_options(sub, arguments->watch);
    sub->footer(footer);
    return {sub, [arguments] { return run_train(*arguments); }};
}

}  // namespace causeway::cli
