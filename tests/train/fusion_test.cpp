#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

/// Ten steps with one fusion on and off, all others on.
struct Pair {
    Trace on, off;
};

Pair with_and_without(const std::string& fusion, const std::vector<std::string>& overrides) {
    std::vector<std::string> without = overrides;
    without.push_back("runtime." + fusion + "=false");
    const auto steps_of = [](const Config& config) { return Trainer(config).plan("train").steps.size(); };
    const Config on = small_gpt2(overrides), off = small_gpt2(without);
    CHECK(steps_of(on) < steps_of(off));
    return {train_steps(on, 10), train_steps(off, 10)};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

std::vector<std::vector<std::string>> on_every_isa(const std::vector<std::string>& overrides) {
    std::vector<std::vector<std::string>> all;
    for (const Isa isa : available_isas()) {
        all.push_back(overrides);
        all.back().push_back("runtime.isa=" + std::string(to_string(isa)));
    }
    return all;
}

void check_same_bits(const std::string& fusion, const std::vector<std::string>& overrides) {
    for (const std::vector<std::string>& each : on_every_isa(overrides)) {
        INFO(fusion << " " << each.back());
        const Pair pair = with_and_without(fusion, each);
        CHECK(pair.on == pair.off);
    }
}

void check_within_rounding(const std::string& fusion, const std::vector<std::string>& overrides) {
    for (const std::vector<std::string>& each : on_every_isa(overrides)) {
        INFO(fusion << " " << each.back());
        const Pair pair = with_and_without(fusion, each);
        CHECK(largest_difference(pair.on.losses, pair.off.losses) <= 1e-5);
        CHECK(largest_difference(pair.on.norms, pair.off.norms) <= 1e-4);
        CHECK(largest_difference(pair.on.parameters, pair.off.parameters) <= 1e-3);
    }
}

}  // namespace

TEST_CASE("fuse_loss: the loss of the gradient's step has the same bits as one computed before") {
    check_same_bits("fuse_loss", {});
    check_same_bits("fuse_loss", {"train.gradient_accumulation_steps=2"});
    check_same_bits("fuse_loss", minimind_blocks());
    check_same_bits("fuse_loss", expert_blocks());
}

TEST_CASE("fuse_norm_residual: the sum may be rounded once less, in one multiply-add with the product before it") {
    check_within_rounding("fuse_norm_residual", {});
    check_within_rounding("fuse_norm_residual", minimind_blocks());
    check_within_rounding("fuse_norm_residual", expert_blocks());
}

TEST_CASE("fuse_epilogue: same bits where there is no bias, which a sum may start from or end with") {
    check_same_bits("fuse_epilogue", {"model.attention_bias=false", "model.mlp_bias=false"});
    check_within_rounding("fuse_epilogue", {});
    check_within_rounding("fuse_epilogue", {"model.hidden_act=silu"});
    check_within_rounding("fuse_epilogue", {"model.hidden_act=relu"});
    check_same_bits("fuse_epilogue", minimind_blocks());
    check_same_bits("fuse_epilogue", expert_blocks());
}

TEST_CASE("fuse_gradient_norm: the same squares, summed in double in another order") {
    // Large enough for the MLP's gradients to be fused.
    const std::vector<std::string> wide{"model.hidden_size=192", "model.num_hidden_layers=1", "train.batch_size=1"};
    for (const std::vector<std::string>& each : on_every_isa(wide)) {
        INFO(each.back());
        const Pair pair = with_and_without("fuse_gradient_norm", each);
        CHECK(pair.on.losses[0] == pair.off.losses[0]);
        CHECK(pair.on.norms[0] == Approx(pair.off.norms[0]).epsilon(1e-12));
        CHECK(largest_difference(pair.on.parameters, pair.off.parameters) <= 1e-6);
    }
    std::vector<std::string> accumulated = wide;
    accumulated.push_back("train.gradient_accumulation_steps=2");
    const Pair pair = with_and_without("fuse_gradient_norm", accumulated);
    CHECK(pair.on.norms[0] == Approx(pair.off.norms[0]).epsilon(1e-12));
    // Experts' too, each with its own tiles.
    const Pair experts = with_and_without("fuse_gradient_norm", expert_blocks({"model.intermediate_size=600"}));
    CHECK(experts.on.norms[0] == Approx(experts.off.norms[0]).epsilon(1e-12));
}
