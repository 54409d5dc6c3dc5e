#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "train/lr_schedule.hpp"

using namespace causeway;

namespace {

TrainConfig schedule(LrSchedule kind, std::int64_t warmup, std::int64_t total, double max = 1.0, double min = 0.1) {
    TrainConfig train;
    train.lr_schedule = kind;
    train.warmup_steps = warmup;
    train.max_steps = total;
    train.learning_rate = max;
    train.min_learning_rate = min;
    return train;
}

/// Of a run that ends with train.max_steps.
double learning_rate(const TrainConfig& train, std::int64_t i) {
    return train::learning_rate(train, train.max_steps, i);
}

void check_rates(const TrainConfig& train, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("step " << i);
        CHECK(learning_rate(train, static_cast<std::int64_t>(i)) == Approx(expected[i]).margin(1e-6));
    }
}

}  // namespace

TEST_CASE("B10: warm-up starts above zero and the cosine follows it") {
    const TrainConfig train = schedule(LrSchedule::cosine, 4, 10);
    const std::vector<double> expected{.2, .4, .6, .8, 1.0, .939711, .775, .55, .325, .160289, .1, .1, .1};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(learning_rate(train, static_cast<std::int64_t>(i)) == Approx(expected[i]).margin(1e-6));
    }
}

TEST_CASE("linear and constant schedules") {
    const TrainConfig linear = schedule(LrSchedule::linear, 1, 5);
    const std::vector<double> expected{.5, 1.0, .775, .55, .325, .1, .1};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(learning_rate(linear, static_cast<std::int64_t>(i)) == Approx(expected[i]).margin(1e-12));
    }
    const TrainConfig constant = schedule(LrSchedule::constant, 3, 10);
    const std::vector<double> warm{.25, .5, .75, 1.0, 1.0, 1.0};
    for (std::size_t i = 0; i < warm.size(); ++i) {
        CHECK(learning_rate(constant, static_cast<std::int64_t>(i)) == warm[i]);
    }
    CHECK(learning_rate(schedule(LrSchedule::constant, 0, 10), 0) == 1.0);
}

TEST_CASE("B10: minimind's cosine ends at a tenth of the rate") {
    const TrainConfig train = schedule(LrSchedule::minimind, 0, 4, 5e-4, 0);
    check_rates(train, {5e-4, 4.340990e-4, 2.75e-4, 1.159010e-4, 5e-5, 5e-5});
    // MiniMind has no warm-up; with one the cosine spans what is left.
    check_rates(schedule(LrSchedule::minimind, 4, 10, 1.0, 0),
                {.2, .4, .6, .8, 1.0, .939711, .775, .55, .325, .160289, .1, .1});
}

TEST_CASE("B10: wsd stays, then falls over its last steps") {
    TrainConfig train = schedule(LrSchedule::wsd, 2, 10);
    train.decay_steps = 3;
    check_rates(train, {1.0 / 3, 2.0 / 3, 1, 1, 1, 1, 1, 1, .7, .4, .1, .1});
    train.decay_steps = 0;  // a fifth, rounded up
    check_rates(train, {1.0 / 3, 2.0 / 3, 1, 1, 1, 1, 1, 1, 1, .55, .1, .1});
    train.decay_steps = 100;  // no more than follow the warm-up
    check_rates(train, {1.0 / 3, 2.0 / 3, 1, .8875, .775});
}

TEST_CASE("B10: inverse_sqrt is at its highest when warmed up, and has a floor") {
    check_rates(
        schedule(LrSchedule::inverse_sqrt, 3, 10, 1.0, 0.55),
        {.25, .5, .75, 1, std::sqrt(4.0 / 5), std::sqrt(4.0 / 6), std::sqrt(4.0 / 7), std::sqrt(4.0 / 8),
         std::sqrt(4.0 / 9), std::sqrt(4.0 / 10), std::sqrt(4.0 / 11), std::sqrt(4.0 / 12), .5547002, .55, .55});
    check_rates(schedule(LrSchedule::inverse_sqrt, 0, 10, 1.0, 0), {1, std::sqrt(1.0 / 2), std::sqrt(1.0 / 3), .5});
}

TEST_CASE("B11: warm-ups as long as the run or longer, or none, give usable rates") {
    for (LrSchedule kind : {LrSchedule::constant, LrSchedule::linear, LrSchedule::cosine, LrSchedule::minimind,
                            LrSchedule::wsd, LrSchedule::inverse_sqrt}) {
        for (std::int64_t total : {1, 2, 3, 7, 10}) {
            for (std::int64_t warmup : {0, 1, 2, 3, 9, 10, 11, 100}) {
                for (double min : {0.0, 3e-5, 3e-4}) {
                    const TrainConfig train = schedule(kind, warmup, total, 3e-4, min);
                    for (std::int64_t i = 0; i < total + 3; ++i) {
                        INFO("schedule " << static_cast<int>(kind) << " warmup " << warmup << " total " << total
                                         << " min " << min << " step " << i);
                        const double rate = learning_rate(train, i);
                        CHECK(std::isfinite(rate));
                        CHECK(rate <= 3e-4);
                        CHECK(rate >= (i >= warmup ? min : 0.0));
                        if (i == 0) CHECK(rate > 0);
                    }
                }
            }
        }
    }
}
