#include <algorithm>
#include <limits>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

constexpr std::int64_t rows = 5;

struct Routing {
    std::int64_t experts, choices;
    bool normalize;
};

std::vector<Routing> routings() {
    std::vector<Routing> all;
    for (const std::int64_t experts : {1, 2, 3, 4, 7, 16, 17, 33, 64, 128, 131}) {
        for (const std::int64_t choices : {1, 2, 8, 131}) {
            for (const bool normalize : {false, true}) {
                if (choices <= experts || choices == 131) {
                    all.push_back({experts, std::min(choices, experts), normalize});
                }
            }
        }
    }
    return all;
}

template <class T>
Guarded<T> softmax_of(const Guarded<T>& logits, std::int64_t cols) {
    Guarded<T> scores(logits.size());
    reference_table<T>().softmax.forward(logits.data(), scores.data(), cols, 0, logits.size() / cols);
    return scores;
}

}  // namespace

TEST_CASE("Chosen experts are the reference's, their weights and the scores' gradients too") {
    for (const Routing& routing : routings()) {
        const std::int64_t experts = routing.experts, pairs = rows * routing.choices;
        CAPTURE(experts, routing.choices, routing.normalize);
        const auto scores = softmax_of(random_values<float>(rows * experts, 3, -4, 4), experts);
        Guarded<double> scores_double(rows * experts);
        for (std::int64_t i = 0; i < scores.size(); ++i) scores_double[i] = static_cast<double>(scores[i]);
        const auto dweights = random_values<float>(pairs, 4), sums = random_values<float>(experts, 5);
        const auto dweights_double = random_values<double>(pairs, 4), sums_double = random_values<double>(experts, 5);

        const auto& reference = reference_table<double>().route;
        Guarded<double> weights_expected(pairs), dscores_expected(rows * experts);
        Guarded<std::int32_t> chosen_expected(pairs);
        reference.choose({scores_double.data(), weights_expected.data(), chosen_expected.data(), experts,
                          routing.choices, routing.normalize},
                         0, rows);
        reference.backward(
            {dweights_double.data(), scores_double.data(), weights_expected.data(), chosen_expected.data(),
             sums_double.data(), dscores_expected.data(), experts, routing.choices, routing.normalize},
            0, rows);
        for_each_isa([&](const KernelTable<float>& table) {
            Guarded<float> weights(pairs), dscores(rows * experts);
            Guarded<std::int32_t> chosen(pairs);
            for (std::int64_t r = rows - 1; r >= 0; --r) {
                table.route.choose(
                    {scores.data(), weights.data(), chosen.data(), experts, routing.choices, routing.normalize}, r,
                    r + 1);
                table.route.backward({dweights.data(), scores.data(), weights.data(), chosen.data(), sums.data(),
                                      dscores.data(), experts, routing.choices, routing.normalize},
                                     r, r + 1);
            }
            CHECK(chosen.same_bits(chosen_expected));
            CHECK(worst_error(weights, weights_expected, 1e-6, 1e-6) <= 1);
            CHECK(worst_error(dscores, dscores_expected, 1e-5, 1e-5) <= 1);
            CHECK((weights.margins_intact() && chosen.margins_intact() && dscores.margins_intact()));
        });
    }
}

TEST_CASE("Equal scores go to the lower expert, the best comes first") {
    for_each_isa([](const KernelTable<float>& table) {
        std::vector<float> scores(40, 0.01f);
        scores[37] = scores[20] = 0.2f;
        scores[5] = 0.1f;
        float weights[4] = {};
        std::int32_t experts[4] = {};
        table.route.choose({scores.data(), weights, experts, 40, 4, false}, 0, 1);
        CHECK(std::vector<std::int32_t>(experts, experts + 4) == std::vector<std::int32_t>{20, 37, 5, 0});
        CHECK(weights[2] == 0.1f);
    });
}

TEST_CASE("A row that is not a number still gives experts that exist, each once") {
    for_each_isa([](const KernelTable<float>& table) {
        std::vector<float> scores(20, std::numeric_limits<float>::quiet_NaN());
        float weights[3] = {};
        std::int32_t experts[3] = {-1, -1, -1};
        table.route.choose({scores.data(), weights, experts, 20, 3, true}, 0, 1);
        std::sort(experts, experts + 3);
        CHECK(experts[0] >= 0);
        CHECK(experts[0] < experts[1]);
        CHECK(experts[1] < experts[2]);
        CHECK(experts[2] < 20);
        CHECK(std::isnan(weights[0]));
    });
}

TEST_CASE("With one expert a token, normalized, the router has no gradient but that of the score sums") {
    for_each_isa([](const KernelTable<float>& table) {
        const float scores[3] = {0.2f, 0.5f, 0.3f}, sums[3] = {1, 2, 3}, dweight = 7;
        float weight = 0, dscores[3] = {};
        std::int32_t expert = -1;
        table.route.choose({scores, &weight, &expert, 3, 1, true}, 0, 1);
        CHECK(weight == 1);
        CHECK(expert == 1);
        table.route.backward({&dweight, scores, &weight, &expert, nullptr, dscores, 3, 1, true}, 0, 1);
        CHECK((dscores[0] == 0 && dscores[1] == 0 && dscores[2] == 0));
        table.route.backward({&dweight, scores, &weight, &expert, sums, dscores, 3, 1, true}, 0, 1);
        CHECK((dscores[0] == 1 && dscores[1] == 2 && dscores[2] == 3));
    });
}
