#include <array>
#include <cmath>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

std::array<double, 3> epoch_means(const std::string& name, int seed) {
    Trainer trainer(config_file(name, {"train.seed=" + std::to_string(seed)}));
    std::array<double, 3> means{};
    RunHooks hooks;
    hooks.on_step = [&](const Progress& progress) {
        if (progress.epoch) means.at(static_cast<std::size_t>(progress.epoch->epoch - 1)) = progress.epoch->mean_loss;
    };
    trainer.run(hooks);
    return means;
}

}  // namespace

TEST_CASE("S1-21: 20 seeds of the repeat task fall where the original's fall") {
    constexpr std::array lowest{2.66, 0.018, 0.0025}, highest{3.03, 0.11, 0.0052};
    constexpr std::array average{2.87, 0.046, 0.0034}, tolerance{0.06, 0.016, 0.0004};
    for (const std::string name : {"repeat_h4.json", "repeat_h8.json"}) {
        int inside = 0;
        std::array<double, 3> sums{};
        for (int seed = 1; seed <= 20; ++seed) {
            const std::array<double, 3> means = epoch_means(name, seed);
            bool in_range = true;
            for (std::size_t e = 0; e < 3; ++e) {
                in_range = in_range && means[e] >= lowest[e] && means[e] <= highest[e];
                sums[e] += means[e] / 20;
            }
            inside += in_range ? 1 : 0;
        }
        INFO(name << ": " << inside << " of 20 inside, averages " << sums[0] << ", " << sums[1] << ", " << sums[2]);
        CHECK(inside >= 19);
        for (std::size_t e = 0; e < 3; ++e) CHECK(std::abs(sums[e] - average[e]) <= tolerance[e]);
    }
}
