#include "train/lr_schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/ceil_div.hpp"

namespace causeway::train {
namespace {

/// A step after the warm-up, and what its rate depends on.
struct Place {
    double max, min;
    std::int64_t warmup, steps, decay_steps, i;

    std::int64_t after_warmup() const { return std::max<std::int64_t>(0, steps - warmup); }
};

/// (i - first) / length within [0, 1]; 1 where there is no length.
double progress(std::int64_t i, std::int64_t first, std::int64_t length) {
    if (i - first >= length) return 1;
    return static_cast<double>(std::max<std::int64_t>(0, i - first)) / static_cast<double>(length);
}

double progress(const Place& place) { return progress(place.i, place.warmup, place.after_warmup()); }

double constant(const Place& place) { return place.max; }

double linear(const Place& place) { return place.min + (1 - progress(place)) * (place.max - place.min); }

double cosine(const Place& place) {
    return place.min + 0.5 * (1 + std::cos(std::numbers::pi * progress(place))) * (place.max - place.min);
}

double minimind(const Place& place) {
    return place.max * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * progress(place))));
}

double wsd(const Place& place) {
    const std::int64_t asked = place.decay_steps > 0 ? place.decay_steps : ceil_div(place.steps, std::int64_t{5});
    const std::int64_t decay = std::min(asked, place.after_warmup());
    return place.min + (1 - progress(place.i, place.steps - decay, decay)) * (place.max - place.min);
}

double inverse_sqrt(const Place& place) {
    return place.max * std::sqrt(static_cast<double>(place.warmup + 1) / static_cast<double>(place.i + 1));
}

struct Schedule {
    double (*rate)(const Place&);
    bool needs_end;
};

const Schedule& schedule_of(LrSchedule kind) {
    static constexpr std::array<Schedule, 6> schedules{{{constant, false},
                                                        {linear, true},
                                                        {cosine, true},
                                                        {minimind, true},
                                                        {wsd, true},
                                                        {inverse_sqrt, false}}};  // by LrSchedule
    return schedules[static_cast<std::size_t>(kind)];
}

}  // namespace

double learning_rate(const TrainConfig& train, std::int64_t steps, std::int64_t i) {
    const double max = train.learning_rate, min = train.min_learning_rate;
    const std::int64_t warmup = train.warmup_steps;
    if (i < warmup) return max * (static_cast<double>(i + 1) / static_cast<double>(warmup + 1));
    const Place place{max, min, warmup, steps, train.decay_steps, i};
    return std::clamp(schedule_of(train.lr_schedule).rate(place), min, max);
}

bool needs_end(LrSchedule schedule) { return schedule_of(schedule).needs_end; }

}  // namespace causeway::train
