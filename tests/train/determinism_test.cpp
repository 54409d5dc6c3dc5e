#include <algorithm>
#include <cmath>

#include "inspect/run_profile.hpp"
#include "inspect/run_timeline.hpp"
#include "support/catch.hpp"
#include "support/under_sanitizer.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

/// GPT-2 blocks as large as kjv_bytes', so that most step groups are worth several threads, on a task without a file.
Config byte_model(const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> all{"data.source=lookback_copy", "data.path=\"\"",     "data.validation_stride=0",
                                 "model.num_hidden_layers=2", "train.batch_size=3", "train.warmup_steps=10",
                                 "train.max_steps=50",        "train.eval_every=0"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return config_file("kjv_bytes.json", all);
}

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& one_more) {
    overrides.push_back(one_more);
    return overrides;
}

/// Trains 50 steps (fewer under a sanitizer) on 1, 2, 3 and 8 threads and requires the same bits of everything.
template <class MakeConfig>
void check_threads(const MakeConfig& make, const std::vector<std::string>& overrides) {
    constexpr int steps = under_sanitizer ? 5 : 50;
    const Trace expected = train_steps(make(with(overrides, "runtime.threads=1")), steps);
    CHECK((under_sanitizer || expected.losses.back() < expected.losses.front()));
    for (int threads : {2, 3, 8}) {
        INFO(threads << " threads");
        CHECK(train_steps(make(with(overrides, "runtime.threads=" + std::to_string(threads))), steps) == expected);
    }
}

/// The largest |a - b| relative to the largest |b|.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::abs(a[i] - b[i]));
        largest = std::max(largest, std::abs(b[i]));
    }
    return worst / largest;
}

}  // namespace

TEST_CASE("the byte model has groups that run on several threads") {
    const Trainer trainer(byte_model());
    const auto& groups = trainer.plan("train").groups;
    CHECK(std::count_if(groups.begin(), groups.end(), [](const StepGroup& group) { return group.parallel; }) > 10);
}

TEST_CASE("B67: 50 steps of the byte model are the same bits on 1, 2, 3 and 8 threads") {
    check_threads(byte_model, {});
}

TEST_CASE("B67: so they are with accumulation") {
    check_threads(byte_model,
                  {"train.gradient_accumulation_steps=2", "train.batch_size=2", "model.num_hidden_layers=1"});
}

TEST_CASE("B67: so they are with RMSNorm, grouped heads, QK-norm, rotation and SwiGLU") {
    check_threads(byte_model, {"model.norm=rmsnorm", "model.qk_norm=true", "model.position_embedding=rope",
                               "model.mlp=gated", "model.hidden_act=silu", "model.num_key_value_heads=2",
                               "model.intermediate_size=344", "train.gradient_accumulation_steps=2"});
}

TEST_CASE("B67: so they are with experts") {
    check_threads(byte_model, {"model.mlp=gated", "model.mlp_bias=false", "model.num_experts=6",
                               "model.num_experts_per_tok=2", "model.moe_intermediate_size=200",
                               "model.router_aux_loss_coef=0.01", "train.gradient_accumulation_steps=2"});
}

TEST_CASE("B67: 50 steps of repeat_h4, with and without accumulation, on 1, 2, 3 and 8 threads") {
    const auto repeat = [](const std::vector<std::string>& overrides) {
        return config_file("repeat_h4.json", overrides);
    };
    check_threads(repeat, {});
    check_threads(repeat, {"train.gradient_accumulation_steps=3"});
}

TEST_CASE("memory reuse changes no bit: each value in its own buffer, poisoned when dead, gives the same") {
    for (const std::string attention : {"tiled", "explicit"}) {
        const std::vector<std::string> common{"train.gradient_accumulation_steps=2", "runtime.attention=" + attention};
        CHECK(train_steps(small_gpt2(common), 20) ==
              train_steps(small_gpt2(with(common, "runtime.memory_reuse=false")), 20));
    }
    CHECK(train_steps(byte_model(), 5) == train_steps(byte_model({"runtime.memory_reuse=false"}), 5));
    CHECK(train_steps(small_gpt2(minimind_blocks()), 20) ==
          train_steps(small_gpt2(minimind_blocks({"runtime.memory_reuse=false"})), 20));
    CHECK(train_steps(small_gpt2(expert_blocks()), 20) ==
          train_steps(small_gpt2(expert_blocks({"runtime.memory_reuse=false"})), 20));
    CHECK(train_steps(config_file("repeat_h4.json"), 20) ==
          train_steps(config_file("repeat_h4.json", {"runtime.memory_reuse=false"}), 20));
}

TEST_CASE("fusing steps changes results by rounding only") {
    for (const std::string placement : {"pre", "post", "minimind", "experts"}) {
        TrainerOptions unfused;
        unfused.fuse = false;
        const Config config = placement == "minimind"  ? small_gpt2(minimind_blocks())
                              : placement == "experts" ? small_gpt2(expert_blocks())
                                                       : small_gpt2({"model.norm_placement=" + placement});
        const Trace a = train_steps(config, 10), b = train_steps(config, 10, std::move(unfused));
        CHECK(difference(a.losses, b.losses) <= 1e-6);
        CHECK(difference(a.norms, b.norms) <= 1e-5);
        CHECK(difference(a.parameters, b.parameters) <= 1e-4);

        TrainerOptions fused_double, unfused_double;
        fused_double.dtype = unfused_double.dtype = DType::f64;
        unfused_double.fuse = false;
        const Trace c = train_steps(config, 10, std::move(fused_double));
        const Trace d = train_steps(config, 10, std::move(unfused_double));
        CHECK(difference(c.losses, d.losses) <= 1e-13);
        CHECK(difference(c.parameters, d.parameters) <= 1e-11);
    }
}

TEST_CASE("S3-11: training with tiled and with explicit attention stays together") {
    const Trace tiled = train_steps(byte_model({"runtime.attention=tiled"}), 10);
    const Trace explicit_path = train_steps(byte_model({"runtime.attention=explicit"}), 10);
    CHECK(difference(tiled.losses, explicit_path.losses) <= 1e-5);
    CHECK(difference(tiled.norms, explicit_path.norms) <= 1e-4);
}

TEST_CASE("the seed decides: the same one repeats a run, another one does not") {
    const Config config = small_gpt2(), other = small_gpt2({"train.seed=8"});
    CHECK(train_steps(config, 5) == train_steps(config, 5));
    CHECK(train_steps(config, 1).losses != train_steps(other, 1).losses);
}

TEST_CASE("profiling and recording a run changes no bit of it") {
    for (const std::string threads : {"runtime.threads=1", "runtime.threads=3"}) {
        const Config config = byte_model({threads});
        Trainer trainer(config);
        const RunProfile profile(trainer.runtime());
        const RunTimeline timeline(trainer.runtime(), {1, 3, 1});
        for (int i = 0; i < 5; ++i) trainer.step();
        CHECK(values_of(trainer.parameters()) == train_steps(config, 5).parameters);
    }
}

TEST_CASE("evaluating between steps changes nothing of the training") {
    const Config config = small_gpt2();
    Trainer trainer(config);
    for (int i = 0; i < 5; ++i) {
        trainer.step();
        trainer.evaluate();
    }
    CHECK(values_of(trainer.parameters()) == train_steps(config, 5).parameters);
}
