#include "train_texts.hpp"

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "causeway/version.hpp"
#include "config/config.hpp"
#include "inspect/units.hpp"
#include "train_progress.hpp"

namespace causeway::cli {
namespace {

std::string model_text(const ModelConfig& model, std::int64_t parameters) {
    return fmt::format("{} parameters, {}, {}, hidden {}, context {}, vocabulary {}", count_text(parameters),
                       plural(model.num_hidden_layers, "layer"), plural(model.num_attention_heads, "head"),
                       model.hidden_size, model.max_position_embeddings, model.vocab_size);
}

std::string memory_text(const MemoryUse& memory) {
    std::string text = fmt::format("memory  {} of {} available", bytes_text(static_cast<double>(memory.total)),
                                   bytes_text(static_cast<double>(memory.available)));
    if (memory.watching > 0) text += fmt::format(", {} for --trace", bytes_text(static_cast<double>(memory.watching)));
    return text + "\n";
}

/// Where the run will end.
std::string length_text(const train::Trainer& trainer) {
    const train::StepLimit& limit = trainer.step_limit();
    const double seconds = trainer.config().train.max_time_s;
    std::string text = limit.steps ? plural(*limit.steps, "step") : "steps";
    if (limit.steps && limit.by != train::EndedBy::max_steps) text += fmt::format(" ({})", to_string(limit.by));
    if (seconds > 0) text += fmt::format("{} for {}", limit.steps ? ", at most" : "", duration_text(seconds));
    return text;
}

/// Which limit ended the run, where that is not the usual one.
std::string limit_text(const train::RunResult& result) {
    if (result.stopped || result.ended_by == train::EndedBy::max_steps) return "";
    return fmt::format(" (train.{})", to_string(result.ended_by));
}

}  // namespace

std::string plural(std::int64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string start_text(const std::string& what, train::Trainer& trainer, const MemoryUse& memory, double peak,
                       const std::string& folder) {
    const Config& config = trainer.config();
    const ExecutionPlan& plan = trainer.plan("train");
    const std::int64_t micro_batches = config.train.gradient_accumulation_steps;
    std::string text = fmt::format("causeway {}: {}\n", version(), what);
    text += fmt::format("model   {}\n", model_text(config.model, trainer.parameter_count()));
    text += fmt::format("data    {}\n", trainer.data_description());
    text += memory_text(memory);
    text += fmt::format("plan    {} steps in {} groups, {}FLOP a training step\n", plan.steps.size(),
                        plan.groups.size(), quantity_text(trainer.flops_per_step()));
    text += fmt::format("machine {}, {} on {}, measured peak {}FLOP/s\n", cpu_model(), to_string(plan.isa),
                        plural(trainer.threads(), "thread"), quantity_text(peak));
    return text + fmt::format("run     {} of {}{} x {} tokens, seed {}, into {}\n", length_text(trainer),
                              micro_batches > 1 ? fmt::format("{} x ", micro_batches) : "", config.train.batch_size,
                              config.train.sequence_length, config.train.seed, folder);
}

std::string summary_text(const train::RunResult& result, std::int64_t steps, const std::string& folder) {
    const std::string time = result.seconds < 60 ? seconds_text(result.seconds) : duration_text(result.seconds);
    std::string text = fmt::format("{} after {} in {}{}: loss {:.4f}", result.stopped ? "stopped" : "done",
                                   plural(steps, "step"), time, limit_text(result), result.last_step.loss);
    if (result.validation && result.validation->valid_tokens > 0)
        text += fmt::format(", val loss {:.4f}", result.validation->loss);
    return text + fmt::format("; saved in {}\n", folder);
}

}  // namespace causeway::cli
