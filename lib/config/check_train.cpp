#include "config/check_train.hpp"

#include "base/format.hpp"
#include "config/mistake.hpp"

namespace causeway::config {
namespace {

/// The checks of one section; a field at its default is not set.
class Checker {
  public:
    Checker(const TrainConfig& train, const std::string& origin) : train_(train), origin_(origin) {}

    void run() const {
        limits();
        optimizer();
        decay();
        schedule();
        guards();
    }

  private:
    using T = TrainConfig;

    template <class... Args>
    [[noreturn]] void refuse(const char* field, fmt::format_string<Args...> text, Args&&... args) const {
        fail({std::string("train.") + field, origin_}, fmt::format(text, std::forward<Args>(args)...));
    }

    /// `field` may only be set when `used`.
    template <class M>
    void needs(const char* field, M T::*member, bool used, const char* why) const {
        static const TrainConfig defaults;
        if (used || train_.*member == defaults.*member) return;
        refuse(field, "found {}, expected {}: {}", train_.*member, defaults.*member, why);
    }

    void limits() const {
        if (train_.max_steps == 0 && train_.max_epochs == 0 && train_.max_tokens == 0 && train_.max_time_s == 0) {
            refuse("max_steps", "found 0, expected a limit: max_steps, max_epochs, max_tokens or max_time_s");
        }
    }

    void optimizer() const {
        const bool sgd = train_.optimizer == OptimizerKind::sgd;
        needs("momentum", &T::momentum, sgd, "only train.optimizer sgd has momentum");
        needs("adam_beta1", &T::adam_beta1, !sgd, "train.optimizer is sgd");
        needs("adam_beta2", &T::adam_beta2, !sgd, "train.optimizer is sgd");
        needs("adam_epsilon", &T::adam_epsilon, !sgd, "train.optimizer is sgd");
    }

    void decay() const {
        if (train_.optimizer == OptimizerKind::adam && train_.weight_decay != 0.0) {
            refuse("weight_decay", "found {}, expected 0 with train.optimizer adam; adamw decays weights",
                   train_.weight_decay);
        }
        if (train_.weight_decay_scope != DecayScope::matrices && train_.weight_decay == 0.0) {
            refuse("weight_decay_scope", "expected matrices: train.weight_decay is 0, so nothing decays");
        }
    }

    void schedule() const {
        if (train_.min_learning_rate > train_.learning_rate) {
            refuse("min_learning_rate", "found {}, expected at most train.learning_rate ({})", train_.min_learning_rate,
                   train_.learning_rate);
        }
        const LrSchedule kind = train_.lr_schedule;
        needs("min_learning_rate", &T::min_learning_rate, kind != LrSchedule::constant,
              "train.lr_schedule is constant");
        needs("min_learning_rate", &T::min_learning_rate, kind != LrSchedule::minimind,
              "train.lr_schedule minimind ends at a tenth of train.learning_rate");
        needs("decay_steps", &T::decay_steps, kind == LrSchedule::wsd, "only train.lr_schedule wsd has decay_steps");
    }

    void guards() const {
        if (train_.spike_factor > 0 && train_.spike_factor <= 1) {
            refuse("spike_factor", "found {}, expected 0 or more than 1: every norm is as large as itself",
                   train_.spike_factor);
        }
        if (train_.on_spike != FaultPolicy::skip && train_.spike_factor == 0) {
            refuse("on_spike", "expected skip: train.spike_factor is 0, so spikes are not looked for");
        }
        const bool rolls_back =
            train_.on_non_finite == FaultPolicy::rollback || train_.on_spike == FaultPolicy::rollback;
        if (rolls_back && train_.checkpoint_every == 0) {
            refuse("checkpoint_every", "found 0, expected more: a rollback needs a checkpoint to go back to");
        }
    }

    const TrainConfig& train_;
    const std::string& origin_;
};

}  // namespace

void check_train(const Config& config, const std::string& origin) { Checker(config.train, origin).run(); }

}  // namespace causeway::config
