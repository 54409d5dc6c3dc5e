#include <algorithm>
#include <cmath>
#include <numeric>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "support/catch.hpp"

// The attention block of REQUIREMENTS S1, one case a row, held against the formulas written out in double.

using namespace causeway;

namespace {

/// Attention alone, as in S1: no residual, norm or MLP.
Config block_config(std::int64_t hidden, std::int64_t heads, std::int64_t context = 16) {
    Config config;
    config.model.vocab_size = 32;
    config.model.hidden_size = hidden;
    config.model.num_attention_heads = heads;
    config.model.num_hidden_layers = 1;
    config.model.max_position_embeddings = context;
    config.model.position_embedding = PositionKind::sinusoidal;
    config.model.norm = NormKind::none;
    config.model.residual = false;
    config.model.mlp = MlpKind::none;
    config.model.tie_word_embeddings = false;
    config.model.lm_head_bias = true;
    config.model.init = InitKind::pytorch;
    config.data.source = DataSource::repeat;
    return resolve_config(config);
}

/// A forward pass whose every intermediate can be read.
class Block {
  public:
    Block(const Config& config, std::int64_t batch, std::int64_t length) : runtime_(plans(config, batch, length), 1) {
        runtime_.initialize(11);
        const auto ids = tokens();
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>((i * 7 + 3) % 32);
        run();
    }
    void run() { runtime_.executor("inspect").run(Phase::step, {}); }
    std::span<std::int32_t> tokens() { return runtime_.executor("inspect").values<std::int32_t>("tokens"); }
    std::span<float> operator[](std::string_view name) { return runtime_.executor("inspect").values<float>(name); }
    Shape shape(std::string_view name) { return runtime_.plan("inspect").value(name).desc.shape; }

  private:
    static std::vector<ExecutionPlan> plans(const Config& config, std::int64_t batch, std::int64_t length) {
        SharedLayout shared;
        CompileOptions options;
        options.mode = Mode::inspect;
        options.batch = batch;
        options.sequence_length = length;
        std::vector<ExecutionPlan> made;
        made.push_back(compile(config, options, shared));
        return made;
    }
    ModelRuntime runtime_;
};

/// y (rows, out) = x (rows, in) W^T + b with W (out, in), in double.
std::vector<double> project(std::span<const float> x, std::span<const float> weight, std::span<const float> bias) {
    const std::size_t out = bias.size(), in = weight.size() / out, rows = x.size() / in;
    std::vector<double> y(rows * out);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t o = 0; o < out; ++o) {
            double sum = bias[o];
            for (std::size_t i = 0; i < in; ++i) sum += static_cast<double>(x[r * in + i]) * weight[o * in + i];
            y[r * out + o] = sum;
        }
    }
    return y;
}

double largest_difference(std::span<const float> a, const std::vector<double>& b) {
    double worst = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

/// Rows [part * D, (part + 1) * D) of the fused weight or bias: Q, K or V.
std::span<float> third(std::span<float> fused, std::size_t part) {
    return fused.subspan(part * fused.size() / 3, fused.size() / 3);
}

}  // namespace

TEST_CASE("S1-01: the block maps (B,T,D) to (B,T,D)") {
    Block block(block_config(16, 4), 2, 7);
    CHECK(block.shape("positions") == Shape({2, 7, 16}));
    CHECK(block.shape("h.0.attn.proj") == Shape({2, 7, 16}));
}

TEST_CASE("S1-02..05 the fused QKV projection equals three D x D projections") {
    const std::size_t d = 24;
    Block block(block_config(24, 6), 2, 7);
    const auto qkv = block["h.0.attn.qkv"];
    for (std::size_t part : {0u, 1u, 2u}) {
        const std::vector<double> alone = project(block["positions"], third(block["h.0.attn.qkv.weight"], part),
                                                  third(block["h.0.attn.qkv.bias"], part));
        std::vector<float> inside;
        for (std::size_t row = 0; row < qkv.size() / (3 * d); ++row) {
            const auto slice = qkv.subspan(row * 3 * d + part * d, d);
            inside.insert(inside.end(), slice.begin(), slice.end());
        }
        CHECK(largest_difference(inside, alone) < 1e-6);
    }
}

TEST_CASE("S1-07..10,13 heads are split, attend on their own, and are merged: D=24, H=6") {
    const std::size_t batch = 2, length = 7, d = 24, heads = 6, dh = 4;
    Block block(block_config(24, 6), batch, length);
    const auto qkv = block["h.0.attn.qkv"], weights = block["h.0.attn.heads.weights"];
    const auto at = [&](std::size_t b, std::size_t t, std::size_t part, std::size_t h, std::size_t i) {
        return static_cast<double>(qkv[(b * length + t) * 3 * d + part * d + h * dh + i]);
    };
    std::vector<double> merged(batch * length * d), expected_weights(weights.size());
    for (std::size_t b = 0; b < batch; ++b) {
        for (std::size_t h = 0; h < heads; ++h) {
            for (std::size_t q = 0; q < length; ++q) {
                std::vector<double> scores(q + 1);
                for (std::size_t k = 0; k <= q; ++k) {
                    for (std::size_t i = 0; i < dh; ++i)
                        scores[k] += at(b, q, 0, h, i) * at(b, k, 1, h, i) / std::sqrt(4.0);
                }
                const double top = *std::ranges::max_element(scores);
                double sum = 0;
                for (double& score : scores) sum += score = std::exp(score - top);
                for (std::size_t k = 0; k <= q; ++k) {
                    expected_weights[((b * heads + h) * length + q) * length + k] = scores[k] / sum;
                    for (std::size_t i = 0; i < dh; ++i) {
                        merged[(b * length + q) * d + h * dh + i] += scores[k] / sum * at(b, k, 2, h, i);
                    }
                }
            }
        }
    }
    CHECK(largest_difference(weights, expected_weights) < 1e-6);
    CHECK(largest_difference(block["h.0.attn.heads"], merged) < 1e-6);
    CHECK(largest_difference(block["h.0.attn.proj"], project(block["h.0.attn.heads"], block["h.0.attn.proj.weight"],
                                                             block["h.0.attn.proj.bias"])) < 1e-6);
}

TEST_CASE("S1-10: what a query may not see has weight exactly 0") {
    Block block(block_config(16, 4), 2, 7);
    const auto weights = block["h.0.attn.heads.weights"];
    for (std::size_t row = 0; row < weights.size() / 7; ++row) {
        for (std::size_t key = row % 7 + 1; key < 7; ++key) REQUIRE(weights[row * 7 + key] == 0.0f);
    }
}

TEST_CASE("S1-11,12 the mask is that of the largest context, its top left (T,T) for shorter ones, and no longer") {
    const Config config = block_config(16, 4, 8);
    Block whole(config, 1, 8), part(config, 1, 5);  // the same parameters and the same first five tokens
    const auto longer = whole["h.0.attn.heads.weights"], shorter = part["h.0.attn.heads.weights"];
    for (std::size_t h = 0; h < 4; ++h) {
        for (std::size_t q = 0; q < 5; ++q) {
            for (std::size_t k = 0; k < 5; ++k) {
                CHECK(shorter[(h * 5 + q) * 5 + k] == Approx(longer[(h * 8 + q) * 8 + k]).margin(1e-7));
            }
        }
    }
    CHECK_THROWS_MESSAGE(Block(config, 1, 9), GraphError, "9 positions are asked for, the table has 8");
}

TEST_CASE("S1-14,22 weights on request: (2,7,16) gives (2,4,7,7), and a width that does not fit is refused") {
    Block block(block_config(16, 4), 2, 7);
    CHECK(block.shape("h.0.attn.heads.weights") == Shape({2, 4, 7, 7}));
    CHECK_THROWS_AS(block_config(10, 3), ConfigError);
}

TEST_CASE("S1-22: changing tokens from the fifth on leaves the first four outputs bit for bit") {
    Block block(block_config(16, 4), 2, 7);
    const auto output = block["h.0.attn.proj"];
    const std::vector<float> before(output.begin(), output.end());
    for (std::size_t i = 0; i < 14; ++i)
        block.tokens()[i] = static_cast<std::int32_t>(i % 7 < 4 ? (i * 7 + 3) % 32 : 31 - i);
    block.run();
    bool changed_later = false;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::size_t t = i / 16 % 7;
        if (t < 4) REQUIRE(output[i] == before[i]);
        changed_later = changed_later || (t >= 4 && output[i] != before[i]);
    }
    CHECK(changed_later);
}

TEST_CASE("S1-22: rows of weights are not negative and sum to 1") {
    Block block(block_config(16, 4), 2, 7);
    const auto weights = block["h.0.attn.heads.weights"];
    for (std::size_t row = 0; row < weights.size() / 7; ++row) {
        const auto of_row = weights.subspan(row * 7, 7);
        CHECK(std::accumulate(of_row.begin(), of_row.end(), 0.0) == Approx(1).margin(1e-5));
        CHECK(*std::ranges::min_element(of_row) >= 0.0f);
    }
}

TEST_CASE("S1-23: gradients reach every parameter") {
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(block_config(16, 4), {}, shared));
    ModelRuntime runtime(std::move(plans), 1);
    runtime.initialize(11);
    Executor& executor = runtime.executor("train");
    for (const char* name : {"tokens", "targets"}) {
        std::int32_t i = 5;
        for (std::int32_t& id : executor.values<std::int32_t>(name)) id = (i += 9) % 32;
    }
    executor.run(Phase::step, {});
    REQUIRE(runtime.gradients().size() == runtime.parameters().size());
    for (const NamedTensor& gradient : runtime.gradients()) {
        INFO(gradient.name);
        double sum = 0;
        for (float g : executor.values<float>(gradient.name)) sum += std::abs(g);
        CHECK(sum > 0);
    }
}
