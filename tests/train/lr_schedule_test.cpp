#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "train/lr_schedule.hpp"

using namespace causeway;
using causeway::train::learning_rate;

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

TEST_CASE("B11: warm-ups as long as the run or longer, or none, give usable rates") {
    for (LrSchedule kind : {LrSchedule::constant, LrSchedule::linear, LrSchedule::cosine}) {
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
