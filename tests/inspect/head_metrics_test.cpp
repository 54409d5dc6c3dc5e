#include "inspect/head_metrics.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// One layer, one sequence, one head.
AttentionMaps one_map(std::int64_t length, std::vector<float> weights) { return {1, 1, 1, length, std::move(weights)}; }

/// Every query looks only at `target(t)`.
template <class F>
AttentionMaps pointing(std::int64_t length, F&& target) {
    std::vector<float> weights(static_cast<std::size_t>(length * length));
    for (std::int64_t t = 0; t < length; ++t) weights[static_cast<std::size_t>(t * length + target(t))] = 1;
    return one_map(length, weights);
}

}  // namespace

TEST_CASE("A head that looks everywhere it can is uniform, whatever the model lets it see", "[inspect]") {
    for (const auto& [causal, window] : {std::pair{true, 0}, {true, 2}, {false, 0}, {false, 1}}) {
        AttentionMaps maps = one_map(5, std::vector<float>(25));
        maps.causal = causal;
        maps.window = window;
        for (std::int64_t t = 0; t < 5; ++t) {
            const std::int64_t reach = window == 0 ? 5 : causal ? window - 1 : window;
            for (std::int64_t s = 0; s < 5; ++s) {
                const bool visible = s >= t - reach && s <= (causal ? t : t + reach);
                if (visible) {
                    maps.weights[static_cast<std::size_t>(t * 5 + s)] = 1.0f / static_cast<float>(maps.visible_keys(t));
                }
            }
        }
        const HeadMetrics m = head_metrics(maps, std::vector<std::int32_t>{3, 1, 4, 1, 5}).at(0);
        CHECK(m.relative_entropy == Approx(1).epsilon(1e-6));
    }
}

TEST_CASE("Metrics of a head that looks only at itself", "[inspect]") {
    const std::vector<std::int32_t> ids{3, 1, 4, 5};
    const HeadMetrics m = head_metrics(pointing(4, [](std::int64_t t) { return t; }), ids).at(0);
    CHECK(m.self == 1);
    CHECK(m.previous == 0);
    CHECK(m.first == 0);
    CHECK(m.entropy == 0);
    CHECK(std::isnan(m.induction));  // no token comes twice
}

TEST_CASE("Metrics of a uniform head", "[inspect]") {
    const std::vector<float> weights{1, 0, 0, 0.5f, 0.5f, 0, 0.25f, 0.25f, 0.5f};
    const std::vector<std::int32_t> ids{7, 8, 9};
    const HeadMetrics m = head_metrics(one_map(3, weights), ids).at(0);
    const double last = 0.5 * std::log(2.0) + 0.5 * std::log(4.0);
    CHECK(m.entropy == Approx((std::log(2.0) + last) / 3));
    CHECK(m.relative_entropy == Approx((1 + last / std::log(3.0)) / 2));
    CHECK(m.self == Approx((1 + 0.5 + 0.5) / 3));
    CHECK(m.previous == Approx((0.5 + 0.25) / 2));
    CHECK(m.first == Approx((0.5 + 0.25) / 2));
    REQUIRE(m.look_back.size() == 3);
    CHECK(m.look_back[2] == Approx(0.25));
    CHECK(m.best_look_back() == 1);
}

TEST_CASE("A head that looks three back is found", "[inspect]") {
    std::vector<std::int32_t> ids{0, 1, 2, 3, 4, 5, 6, 7};
    const auto maps = pointing(8, [](std::int64_t t) { return std::max<std::int64_t>(0, t - 3); });
    const HeadMetrics m = head_metrics(maps, ids, 5).at(0);
    CHECK(m.best_look_back() == 3);
    CHECK(m.look_back[3] == 1);
    CHECK(m.look_back.size() == 6);
    CHECK(head_metrics_text({m}) ==
          "layer  head  entropy  of uniform   self  previous  first  induction  most looked back\n"
          "    0     0    0.000       0.000  0.125     0.143  0.429          -         3 (1.000)\n");
}

TEST_CASE("An induction head looks at what followed the token before", "[inspect]") {
    // A B C A B C: at 3 (A) it looks at 1, at 4 (B) at 2, at 5 (C) at 3.
    const std::vector<std::int32_t> ids{5, 6, 7, 5, 6, 7};
    const auto maps = pointing(6, [](std::int64_t t) { return t < 3 ? 0 : t - 2; });
    CHECK(head_metrics(maps, ids).at(0).induction == 1);
    const auto previous = pointing(6, [](std::int64_t t) { return std::max<std::int64_t>(0, t - 1); });
    CHECK(head_metrics(previous, ids).at(0).induction == 0);
}

TEST_CASE("Metrics average over the batch and come layer by layer", "[inspect]") {
    // 1 layer, 2 sequences, 2 heads, T = 2: head 0 looks at itself, then before; head 1 the other way round.
    const std::vector<float> self{1, 0, 0, 1}, before{1, 0, 1, 0};
    AttentionMaps maps{1, 2, 2, 2, {}};
    for (const auto* map : {&self, &before, &before, &before}) {
        for (float weight : *map) maps.weights.push_back(weight);
    }
    const std::vector<std::int32_t> ids{1, 2, 1, 2};
    const auto metrics = head_metrics(maps, ids);
    REQUIRE(metrics.size() == 2);
    CHECK(metrics[0].previous == Approx(0.5));
    CHECK(metrics[1].previous == Approx(1.0));
    CHECK(metrics[1].head == 1);
    CHECK_THROWS_MESSAGE(head_metrics(maps, std::vector<std::int32_t>{1, 2}), DataError, "2 sequences of 2");
}

TEST_CASE("A single token has metrics too", "[inspect]") {
    const HeadMetrics m = head_metrics(one_map(1, {1}), std::vector<std::int32_t>{0}).at(0);
    CHECK(m.self == 1);
    CHECK(std::isnan(m.previous));
    CHECK(m.best_look_back() == 0);
    const auto json = nlohmann::json::parse(head_metrics_json({m}));
    CHECK(json.at(0).at("previous").is_null());
    CHECK(json.at(0).at("self") == 1.0);
}
