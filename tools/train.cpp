#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/cpu.hpp"
#include "causeway/error.hpp"
#include "causeway/version.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "inspect/machine.hpp"
#include "inspect/units.hpp"
#include "io/atomic_file.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"
#include "stop_signal.hpp"
#include "text.hpp"
#include "train/metrics.hpp"
#include "train/trainer.hpp"
#include "train_progress.hpp"
#include "train_watch.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "DIR receives metrics.jsonl (one object a step), config.json (every field, as resolved) and model.safetensors.\n"
    "Ctrl-C (SIGINT) and SIGTERM end the run after the current step with what was learned saved; exit code 130 or\n"
    "143. A second one ends it at once.\n"
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

std::vector<std::string> files_of(const RunFolder& run) { return {run.config(), run.metrics(), run.parameters()}; }

/// Refuses a folder that holds a run, unless it is to be replaced.
void check_folder(const RunFolder& run, bool overwrite) {
    if (run.folder.empty()) throw IoError("--out: is empty, expected a folder for the run");
    std::error_code ignored;
    if (std::filesystem::exists(run.folder, ignored) && !std::filesystem::is_directory(run.folder, ignored)) {
        throw IoError(fmt::format("{}: exists and is no folder, expected one for the run (--out)", run.folder));
    }
    if (overwrite) return;
    for (const std::string& file : files_of(run)) {
        if (std::filesystem::exists(file, ignored)) {
            throw IoError(fmt::format("{}: holds a run already ({}); --overwrite replaces it, or choose another --out",
                                      run.folder, std::filesystem::path(file).filename().string()));
        }
    }
}

/// Makes the folder, empty of an older run, with the config of this one. What is to be written at the end must be
/// writable now.
void begin_run(const RunFolder& run, const Config& config, const std::string& trace) {
    make_folder(run.folder);
    if (!trace.empty()) const AtomicFile trial(trace);
    std::error_code ignored;
    for (const std::string& file : files_of(run)) std::filesystem::remove(file, ignored);
    write_text_atomically(run.config(), to_json(config));
}

std::string plural(std::int64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string model_text(const ModelConfig& model, std::int64_t parameters) {
    return fmt::format("{} parameters, {}, {}, hidden {}, context {}, vocabulary {}", count_text(parameters),
                       plural(model.num_hidden_layers, "layer"), plural(model.num_attention_heads, "head"),
                       model.hidden_size, model.max_position_embeddings, model.vocab_size);
}

/// All plans share one arena: the largest decides.
std::int64_t memory_of(const train::Trainer& trainer) {
    std::int64_t bytes = std::max(trainer.plan("train").memory.total(), trainer.plan("eval").memory.total());
    if (trainer.config().data.source != DataSource::text)
        bytes = std::max(bytes, trainer.plan("logits").memory.total());
    return bytes;
}

std::string start_text(const Arguments& arguments, train::Trainer& trainer, std::size_t available, double peak) {
    const Config& config = trainer.config();
    const ExecutionPlan& plan = trainer.plan("train");
    const std::int64_t micro_batches = config.train.gradient_accumulation_steps;
    std::string text = fmt::format("causeway {}: training {}{}\n", version(), arguments.config,
                                   arguments.init_from.empty() ? "" : " from " + arguments.init_from);
    text += fmt::format("model   {}\n", model_text(config.model, trainer.parameter_count()));
    text += fmt::format("data    {}\n", trainer.data_description());
    text += fmt::format("memory  {} of {} available\n", bytes_text(static_cast<double>(memory_of(trainer))),
                        bytes_text(static_cast<double>(available)));
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
    TrainingRun(train::Trainer& trainer, const RunFolder& run, const RunFacts& facts, const Arguments& arguments)
        : trainer_(trainer),
          run_(run),
          quiet_(arguments.quiet),
          watch_(trainer, arguments.watch),
          metrics_(run.metrics()),
          display_(facts, stdout_is_terminal(), stdout_has_colour()) {}

    int operator()() {
        train::RunHooks hooks;
        hooks.stop = &signal_.flag();
        hooks.on_step = [this](const train::Progress& progress) {
            metrics_.write(progress);
            watch_.after_step(progress);
            say([&] { display_.show(progress); });
        };
        train::RunResult result;
        try {
            result = trainer_.run(hooks);
        } catch (const Error& error) {
            save_after(error);
            throw;
        }
        trainer_.save(run_.folder);
        say([&] { display_.finish(); });
        say([&] { print(summary_text(result, trainer_.steps_done(), run_.folder)); });
        const std::string seen = watch_.finish(result);
        say_always([&] { print(seen); });
        return outcome();
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

    void save_after(const Error& error) {
        say([&] { display_.finish(); });
        if (trainer_.steps_done() == 0) return;
        try {
            trainer_.save(run_.folder);
        } catch (const Error& second) {
            throw IoError(fmt::format("{}; and what was learned cannot be saved: {}", error.what(), second.what()));
        }
    }

    int outcome() const {
        if (!lost_output_.empty()) {
            throw OutputError(fmt::format("{}; stopped after step {}, saved in {}", lost_output_, trainer_.steps_done(),
                                          run_.folder));
        }
        if (signal_.number() == 0) return exit_success;
        complain("causeway train", fmt::format("ended by {} after step {}, saved in {}", signal_.name(),
                                               trainer_.steps_done(), run_.folder));
        return 128 + signal_.number();
    }

    train::Trainer& trainer_;
    RunFolder run_;
    bool quiet_;
    TrainWatch watch_;
    StopSignal signal_;
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
    const RunFolder run{arguments.out};
    const Config config = config_of(arguments);
    check_folder(run, arguments.overwrite);
    const std::size_t available = available_memory();
    train::Trainer trainer(config);
    load_start(arguments, trainer);
    const RunFacts facts{config.train.max_steps, config.train.log_every, trainer.flops_per_step(),
                         arguments.quiet ? 0 : measure_flop_peak(trainer.plan("train").isa, trainer.threads())};
    if (!arguments.quiet) print(start_text(arguments, trainer, available, facts.peak_flops_per_second));
    begin_run(run, config, arguments.watch.trace);
    return TrainingRun(trainer, run, facts, arguments)();
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
