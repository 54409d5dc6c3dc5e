#include "config/fields/fields.hpp"

namespace causeway::config {
namespace {

void add_batch(SectionBuilder<TrainConfig>& train) {
    using T = TrainConfig;
    train.add("seed", &T::seed, any_unsigned(), "Decides initial values and data; same seed, same run.",
              {"random_seed"});
    train.add("batch_size", &T::batch_size, integer(1, 1 << 16), "Sequences in a micro-batch.",
              {"micro_batch_size", "per_device_train_batch_size"});
    train.add("sequence_length", &T::sequence_length, integer(0, most_positions),
              "Tokens in a sequence; 0 means model.max_position_embeddings.",
              {"seq_len", "block_size", "context_length", "max_length"});
    train.add("gradient_accumulation_steps", &T::gradient_accumulation_steps, integer(1, 1 << 16),
              "Micro-batches whose gradients make one optimizer step.", {"accumulation_steps", "grad_accum"});
}

void add_limits(SectionBuilder<TrainConfig>& train) {
    using T = TrainConfig;
    train.add("max_steps", &T::max_steps, integer(0, most_steps),
              "Optimizer steps; 0 means no such limit, if there is another one.",
              {"steps", "max_iters", "num_iterations", "total_steps"});
    train.add("max_epochs", &T::max_epochs, number({0.0, 1e9}),
              "The run also ends after so many passes over the data; 0 means no such limit.",
              {"epochs", "num_train_epochs"});
    train.add("max_tokens", &T::max_tokens, integer(0, std::int64_t{1} << 60),
              "The run also ends when so many tokens were trained on; 0 means no such limit.");
    train.add("max_time_s", &T::max_time_s, number({0.0, 1e9}),
              "The run also ends after so many seconds; 0 means no such limit.", {"max_time"});
    train.add("steps_per_epoch", &T::steps_per_epoch, integer(0, most_steps),
              "Steps that are reported as an epoch; 0 means one pass over the data with sampling epoch, otherwise no "
              "epochs.");
}

void add_rate(SectionBuilder<TrainConfig>& train) {
    using T = TrainConfig;
    const ValueType<double> rate = number({0.0, 1000.0});
    train.add("learning_rate", &T::learning_rate, number({0.0, 1000.0, true, false}), "The highest rate.",
              {"lr", "max_lr"});
    train.add("min_learning_rate", &T::min_learning_rate, rate,
              "The rate that linear, cosine and wsd schedules end at and inverse_sqrt never goes below; at most "
              "learning_rate.",
              {"min_lr", "final_lr"});
    train.add("lr_schedule", &T::lr_schedule,
              choice<LrSchedule>({"constant", "linear", "cosine", "minimind", "wsd", "inverse_sqrt"}),
              "The rate after warm-up.", {"lr_scheduler_type", "schedule"});
    train.add("warmup_steps", &T::warmup_steps, integer(0, most_steps),
              "Steps over which the rate rises linearly to learning_rate.", {"warmup_iters", "warmup"});
    train.add("decay_steps", &T::decay_steps, integer(0, most_steps),
              "wsd: the last steps, over which the rate falls; 0 means a fifth of all.");
}

void add_optimizer(SectionBuilder<TrainConfig>& train) {
    using T = TrainConfig;
    train.add("momentum", &T::momentum, number({0.0, 1.0, false, true}),
              "sgd: share of the earlier gradients that each step keeps; 0 means none.");
    train.add("adam_beta1", &T::adam_beta1, number({0.0, 1.0, false, true}), "Decay of the mean of gradients.",
              {"beta1", "betas"});
    train.add("adam_beta2", &T::adam_beta2, number({0.0, 1.0, false, true}), "Decay of the mean of their squares.",
              {"beta2"});
    train.add("adam_epsilon", &T::adam_epsilon, number({1e-30, 1.0}), "Added to the root in the denominator.",
              {"eps", "adam_eps"});
    train.add("weight_decay", &T::weight_decay, number({0.0, 100.0}),
              "Decay of the parameters in weight_decay_scope: decoupled with adamw, L2 with sgd. Must be 0 with adam.");
    train.add("weight_decay_scope", &T::weight_decay_scope, choice<DecayScope>({"matrices", "linear", "all"}),
              "What decays: matrices and embeddings but no biases and norm gains; no embeddings either (a tied one is "
              "one); or everything.",
              {"no_decay"});
    train.add("max_grad_norm", &T::max_grad_norm, number({0.0, 1e30}),
              "The global gradient norm is clipped to it; 0 means no clipping.", {"grad_clip", "clip", "clip_grad"});
}

void add_guards(SectionBuilder<TrainConfig>& train) {
    using T = TrainConfig;
    const auto policy = choice<FaultPolicy>({"stop", "skip", "rollback"});
    train.add(
        "on_non_finite", &T::on_non_finite, policy,
        "What follows a loss or gradient that is not finite: an error, the step left out, or the newest checkpoint.");
    train.add("on_spike", &T::on_spike, policy, "The same for a gradient norm above spike_factor times the usual one.");
    train.add(
        "spike_factor", &T::spike_factor, number({0.0, 1e9}),
        "Above so many times the usual gradient norm it is a spike: more than 1; 0 means that spikes are not looked "
        "for.");
}

void add_records(SectionBuilder<TrainConfig>& train) {
    using T = TrainConfig;
    train.add("log_every", &T::log_every, integer(1, most_steps), "Steps between two printed lines.",
              {"logging_steps", "log_interval"});
    train.add("eval_every", &T::eval_every, integer(0, most_steps),
              "Steps between two validations; 0 means only at the end.", {"eval_steps", "eval_interval"});
    train.add("checkpoint_every", &T::checkpoint_every, integer(0, most_steps),
              "Steps between two checkpoints; 0 means only at the end.", {"save_steps", "save_every", "save_interval"});
    train.add("keep_checkpoints", &T::keep_checkpoints, integer(1, 1 << 20),
              "Newest checkpoints that stay; the one with the best validation loss stays too.", {"save_total_limit"});
    train.add("sample_every", &T::sample_every, integer(0, most_steps),
              "Steps between two samples of what the model writes; 0 means none.");
    train.add("sample_prompt", &T::sample_prompt, text(), "What samples begin with.");
    train.add("sample_tokens", &T::sample_tokens, integer(1, most_positions), "Tokens of a sample.");
    train.add("report", &T::report, flag(), "Whether report.html is kept up to date in the run's folder.");
    train.add("tensorboard", &T::tensorboard, flag(), "Whether TensorBoard's event files are written too.");
}

}  // namespace

Section train_section() {
    SectionBuilder<TrainConfig> train("train", &Config::train, "How the parameters are learned.");
    using T = TrainConfig;
    add_batch(train);
    add_limits(train);
    train.add("optimizer", &T::optimizer, choice<OptimizerKind>({"adamw", "adam", "sgd"}),
              "adam is adamw without weight decay; sgd has momentum. See docs/training.md for this and what follows.",
              {"optim", "optimizer_type"});
    add_rate(train);
    add_optimizer(train);
    add_guards(train);
    train.add(
        "recompute", &T::recompute, choice<Recompute>({"none", "attention_free", "block"}),
        "What backward computes a second time instead of keeping it: nothing, all of a block but attention with its "
        "qkv, or all of a block. Same results; see Recomputation below.",
        {"gradient_checkpointing", "activation_checkpointing", "checkpointing", "recompute_granularity"});
    add_records(train);
    return train.take();
}

}  // namespace causeway::config
