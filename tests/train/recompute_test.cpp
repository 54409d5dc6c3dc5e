#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

/// Everything that training leaves behind, bit for bit, with each choice against none.
void check_choices(const std::vector<std::string>& overrides, bool fuse = true, DType dtype = DType::f32) {
    const auto train = [&](const std::string& choice) {
        std::vector<std::string> all = overrides;
        all.push_back("train.recompute=" + choice);
        TrainerOptions options;
        options.fuse = fuse;
        options.dtype = dtype;
        return train_steps(small_gpt2(all), 8, std::move(options));
    };
    const Trace none = train("none");
    CHECK(none.losses.back() != none.losses.front());
    for (const char* choice : {"attention_free", "block"}) {
        INFO(choice);
        CHECK(train(choice) == none);
    }
}

}  // namespace

TEST_CASE("Recomputation changes no bit of training, with either attention, fused and unfused") {
    for (const std::string attention : {"tiled", "explicit"}) {
        for (const bool fuse : {true, false}) {
            INFO(attention << (fuse ? " fused" : " unfused"));
            check_choices({"runtime.attention=" + attention}, fuse);
        }
    }
}

TEST_CASE("Recomputation changes no bit of any kind of block") {
    for (const char* kind :
         {"model.norm_placement=post", "model.norm=none", "model.residual=false", "model.mlp=none",
          "model.attention_bias=false", "model.position_embedding=none", "model.hidden_act=gelu",
          "model.hidden_act=silu", "model.hidden_act=relu", "model.norm=rmsnorm", "model.mlp=gated",
          "model.qk_norm=true", "model.position_embedding=rope", "model.num_key_value_heads=1", "model.head_dim=7",
          "model.tie_word_embeddings=false", "model.num_hidden_layers=1", "train.gradient_accumulation_steps=3"}) {
        INFO(kind);
        check_choices({kind});
    }
    check_choices({"model.norm=none", "model.residual=false", "model.mlp=none"});
    check_choices({}, true, DType::f64);
    for (const bool fuse : {true, false}) check_choices(minimind_blocks(), fuse);
    check_choices(minimind_blocks({"model.norm_placement=post", "runtime.attention=explicit"}));
    for (const bool fuse : {true, false}) check_choices(expert_blocks(), fuse);
    check_choices(expert_blocks({"model.router_aux_loss_scope=model", "model.residual=false"}));
}

TEST_CASE("Recomputation reads nothing that has died: dead values are poisoned") {
    for (const std::string attention : {"tiled", "explicit"}) {
        check_choices({"runtime.memory_reuse=false", "runtime.attention=" + attention});
        check_choices(minimind_blocks({"runtime.memory_reuse=false", "runtime.attention=" + attention}));
        check_choices(expert_blocks({"runtime.memory_reuse=false", "runtime.attention=" + attention}));
    }
}

TEST_CASE("Recomputation on every instruction set and with single fusions off") {
    for (const Isa isa : available_isas()) {
        check_choices({"runtime.isa=" + std::string(to_string(isa))});
        check_choices(minimind_blocks({"runtime.isa=" + std::string(to_string(isa))}));
    }
    for (const char* fusion : {"loss", "epilogue", "norm_residual", "gradient_norm"}) {
        check_choices({std::string("runtime.fuse_") + fusion + "=false"});
    }
}

TEST_CASE("Recomputed steps are the same bits on 1, 2, 3 and 8 threads, and those of no recomputation") {
    // Blocks as wide as kjv_bytes', so that step groups are worth several threads.
    const auto train = [](const std::string& choice, int threads) {
        return train_steps(
            config_file("kjv_bytes.json", {"data.source=lookback_copy", "data.path=\"\"", "data.validation_stride=0",
                                           "model.num_hidden_layers=2", "train.batch_size=3", "train.max_steps=50",
                                           "train.recompute=" + choice, "runtime.threads=" + std::to_string(threads)}),
            4);
    };
    const Trace expected = train("none", 1);
    for (const char* choice : {"attention_free", "block"}) {
        for (const int threads : {1, 2, 3, 8}) {
            INFO(choice << " on " << threads << " threads");
            CHECK(train(choice, threads) == expected);
        }
    }
}
