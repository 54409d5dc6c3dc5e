#include "model/rope_frequencies.hpp"

#include <cmath>
#include <vector>

#include "exec/initialize.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

RopeConfig scaled(RopeType type, double theta, double factor, std::int64_t original = 0) {
    RopeConfig rope;
    rope.type = type;
    rope.theta = theta;
    rope.factor = factor;
    rope.original_max_position_embeddings = original;
    return rope;
}

void check(const RopeFrequencies& found, const std::vector<double>& expected, double scale = 1) {
    REQUIRE(found.frequencies.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found.frequencies[i] == Approx(expected[i]).epsilon(1e-6));
    CHECK(found.scale == Approx(scale).epsilon(1e-12));
}

}  // namespace

// Expected numbers: transformers 5.24, modeling_rope_utils.py, to the seven digits of its float32.

TEST_CASE("Unscaled and linear frequencies") {
    check(rope_frequencies(scaled(RopeType::unscaled, 1e4, 1), 8, 64, 64), {1, 0.1, 0.01, 0.001});
    check(rope_frequencies(scaled(RopeType::linear, 1e4, 4), 8, 64, 64), {0.25, 0.025, 0.0025, 0.00025});
}

TEST_CASE("Dynamic frequencies change with the length beyond the original context") {
    const RopeConfig rope = scaled(RopeType::dynamic, 1e4, 2, 64);
    check(rope_frequencies(rope, 8, 256, 3), {1, 0.1, 0.01, 0.001});
    check(rope_frequencies(rope, 8, 256, 64), {1, 0.1, 0.01, 0.001});
    check(rope_frequencies(rope, 8, 256, 200), {1, 0.05753696, 0.003310502, 0.0001904762});
    check(rope_frequencies(scaled(RopeType::dynamic, 1e4, 2), 8, 256, 200), {1, 0.1, 0.01, 0.001});
}

TEST_CASE("Llama 3's frequencies: kept, blended, divided") {
    check(rope_frequencies(scaled(RopeType::llama3, 5e5, 8, 8192), 16, 131072, 9),
          {1, 0.1939228, 0.03760603, 0.007292665, 0.000524846, 3.428102e-05, 6.64787e-06, 1.289173e-06});
}

TEST_CASE("YaRN's frequencies and the factor of its table, the paper's or one that is given") {
    RopeConfig rope = scaled(RopeType::yarn, 1e6, 16, 2048);
    const std::vector<double> expected{1,       0.1778279,   0.02174066,  0.00210878,
                                       6.25e-5, 1.111425e-5, 1.976423e-6, 3.514633e-7};
    check(rope_frequencies(rope, 16, 32768, 9), expected, 1.2772588722239782);
    rope.attention_factor = 1;  // MiniMind's
    check(rope_frequencies(rope, 16, 32768, 9), expected, 1);
    rope = scaled(RopeType::yarn, 1e4, 4, 64);
    rope.attention_factor = 1;
    check(rope_frequencies(rope, 8, 256, 9), {1, 0.0625, 0.0025, 0.00025}, 1);
}

TEST_CASE("B22: the table at position 16000 is as exact as float allows") {
    PlannedValue table;
    table.desc = TensorDesc(DType::f32, {16001, 4});
    const RopeFrequencies angles = rope_frequencies(RopeConfig{}, 4, 16001, 1);
    table.initializer = {Initializer::Kind::rope, angles.scale, angles.frequencies};
    std::vector<float> data(16001 * 4);
    initialize(table, data.data(), 0, 0);
    const float* row = data.data() + 16000 * 4;
    CHECK(std::abs(row[0] - -0.9913814) <= 1e-6);
    CHECK(std::abs(row[2] - 0.1310071) <= 1e-6);
    CHECK(std::abs(row[1] - std::cos(160.0)) <= 1e-7);
    CHECK(std::abs(row[3] - std::sin(160.0)) <= 1e-7);
    CHECK(data[0] == 1.0f);
    CHECK(data[2] == 0.0f);
}
