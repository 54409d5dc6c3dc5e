#include <algorithm>
#include <cmath>

#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "support/catch.hpp"

// Attention's variants as a config and a plan's inputs ask for them.

using namespace causeway;

namespace {

Config model(const std::vector<std::string>& overrides = {}) {
    return parse_config(R"({
        "model": {"vocab_size": 29, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
                  "max_position_embeddings": 16, "position_embedding": "alibi", "initializer_range": 0.3},
        "data": {"source": "repeat"}})",
                        "model", overrides);
}

/// One plan of a model, initialised from one seed.
class Run {
  public:
    Run(const Config& config, CompileOptions options)
        : mode_(to_string(options.mode)), runtime_(plans(config, options), 1) {
        runtime_.initialize(5);
    }

    template <class T>
    std::span<T> values(std::string_view name) {
        return runtime_.executor(mode_).template values<T>(name);
    }
    void run(const RunArgs& args = {}) { runtime_.executor(mode_).run(Phase::step, args); }
    double loss() { return values<double>("loss")[0]; }

    std::vector<double> gradients() {
        std::vector<double> all;
        for (const NamedTensor& tensor : runtime_.gradients()) {
            const auto some = values<float>(tensor.name);
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

  private:
    static std::vector<ExecutionPlan> plans(const Config& config, const CompileOptions& options) {
        SharedLayout shared;
        std::vector<ExecutionPlan> made;
        made.push_back(compile(config, options, shared));
        return made;
    }

    std::string_view mode_;
    ModelRuntime runtime_;
};

CompileOptions sized(Mode mode, std::int64_t batch, std::int64_t length) {
    CompileOptions options;
    options.mode = mode;
    options.batch = batch;
    options.sequence_length = length;
    return options;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double difference = std::abs(a[i] - b[i]);
        worst = difference <= worst ? worst : std::isnan(difference) ? INFINITY : difference;
    }
    return worst;
}

}  // namespace

TEST_CASE("B01, B02: padding on either side changes neither loss nor gradients, with either attention") {
    const std::vector<std::int32_t> ids{3, 14, 15, 9, 26, 5}, targets{14, 15, 9, 26, 5, 8};
    for (const char* path : {"tiled", "explicit"}) {
        const Config config = model({std::string("runtime.attention=") + path});
        Run alone(config, sized(Mode::train, 1, 6));
        std::ranges::copy(ids, alone.values<std::int32_t>("tokens").begin());
        std::ranges::copy(targets, alone.values<std::int32_t>("targets").begin());
        alone.run();
        for (const std::size_t left : {0u, 4u}) {
            INFO(path << ", " << left << " on the left");
            CompileOptions options = sized(Mode::train, 1, 10);
            options.attention_mask = true;
            Run padded(config, options);
            std::ranges::fill(padded.values<std::int32_t>("tokens"), 28);
            std::ranges::fill(padded.values<std::int32_t>("targets"), -100);
            std::ranges::fill(padded.values<std::int32_t>("attention_mask"), 0);
            for (std::size_t i = 0; i < ids.size(); ++i) {
                padded.values<std::int32_t>("tokens")[left + i] = ids[i];
                padded.values<std::int32_t>("targets")[left + i] = targets[i];
                padded.values<std::int32_t>("attention_mask")[left + i] = 1;
            }
            padded.run();
            CHECK(padded.loss() == Approx(alone.loss()).epsilon(1e-6));
            CHECK(largest_difference(padded.gradients(), alone.gradients()) < 1e-5);
        }
    }
}

TEST_CASE("S1-11: an arbitrary mask hides what it says, whole or per sequence") {
    for (const bool causal : {true, false}) {
        const Config config = model({causal ? "model.causal=true" : "model.causal=false"});
        CompileOptions options = sized(Mode::inspect, 2, 7);
        options.mask = {2, 1, 9, 9};  // larger than the sequence: its top left counts
        Run run(config, options);
        for (std::size_t i = 0; i < 14; ++i)
            run.values<std::int32_t>("tokens")[i] = static_cast<std::int32_t>(i * 5 % 29);
        const auto mask = run.values<std::uint8_t>("mask");
        for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 4 == 1 ? 0 : 1;
        run.run();
        const auto weights = run.values<float>("h.1.attn.heads.weights");
        bool right = true;
        for (std::size_t b = 0; b < 2; ++b) {
            for (std::size_t h = 0; h < 3; ++h) {
                for (std::size_t i = 0; i < 7; ++i) {
                    double sum = 0;
                    bool any = false;
                    for (std::size_t j = 0; j < 7; ++j) {
                        const bool visible = mask[(b * 9 + i) * 9 + j] != 0 && (!causal || j <= i);
                        const float weight = weights[((b * 3 + h) * 7 + i) * 7 + j];
                        right = right && (visible ? weight > 0 : weight == 0);
                        any = any || visible;
                        sum += static_cast<double>(weight);
                    }
                    right = right && std::abs(sum - (any ? 1 : 0)) < 1e-5;
                }
            }
        }
        CHECK(right);
    }
}

TEST_CASE("A sliding window as wide as the sequence changes nothing, a narrower one forgets") {
    const auto logits = [](const std::vector<std::string>& overrides, std::int32_t first_token) {
        Run run(model(overrides), sized(Mode::logits, 1, 12));
        for (std::size_t i = 0; i < 12; ++i)
            run.values<std::int32_t>("tokens")[i] = static_cast<std::int32_t>(i * 3 % 29);
        run.values<std::int32_t>("tokens")[0] = first_token;
        run.run();
        const auto values = run.values<float>("logits");
        return std::vector<double>(values.begin(), values.end());
    };
    CHECK(logits({"model.sliding_window=12"}, 1) == logits({}, 1));
    CHECK(logits({"model.sliding_window=3"}, 1) != logits({}, 1));
    // Two layers of windows of 3 reach 4 positions back.
    const auto one = logits({"model.sliding_window=3"}, 1), other = logits({"model.sliding_window=3"}, 2);
    const std::vector<double> tail_one(one.begin() + 5 * 29, one.end()),
        tail_other(other.begin() + 5 * 29, other.end());
    CHECK(tail_one == tail_other);
    CHECK(std::vector<double>(one.begin(), one.begin() + 5 * 29) !=
          std::vector<double>(other.begin(), other.begin() + 5 * 29));
}

TEST_CASE("The score's scale is 1 / sqrt(head_dim) unless the config says otherwise") {
    const auto attributes = [](const std::vector<std::string>& overrides) {
        SharedLayout shared;
        const ExecutionPlan plan = compile(model(overrides), sized(Mode::eval, 1, 4), shared);
        for (const PlannedNode& node : plan.nodes) {
            if (node.op == "attention") return node.attributes;
        }
        return std::string();
    };
    CHECK_THAT(attributes({}), contains("scale=0.353553") && contains("alibi=true"));
    CHECK_THAT(attributes({"model.attention_scale=0.125"}), contains("scale=0.125"));
    CHECK_THAT(attributes({"model.causal=false", "model.sliding_window=2"}),
               contains("causal=false") && contains("window=2"));
    CHECK_THAT(attributes({"model.attention_dropout=0.5"}), !contains("dropout"));  // eval
}

TEST_CASE("B33: dropout is off outside training, and scales what it keeps") {
    const std::vector<std::string> dropouts{"model.attention_dropout=0.3", "model.embd_pdrop=0.3",
                                            "model.resid_pdrop=0.3"};
    const auto loss = [](const std::vector<std::string>& overrides, Mode mode) {
        Run run(model(overrides), sized(mode, 2, 9));
        for (std::size_t i = 0; i < 18; ++i) {
            run.values<std::int32_t>("tokens")[i] = static_cast<std::int32_t>(i % 7);
            run.values<std::int32_t>("targets")[i] = static_cast<std::int32_t>(i % 5);
        }
        run.run();
        return run.loss();
    };
    CHECK(loss(dropouts, Mode::eval) == loss({}, Mode::eval));
    CHECK(loss(dropouts, Mode::train) != loss({}, Mode::train));
    CHECK(loss({}, Mode::train) == Approx(loss({}, Mode::eval)).epsilon(1e-6));
    const double all = loss({"model.attention_dropout=1", "model.embd_pdrop=1", "model.resid_pdrop=1"}, Mode::train);
    CHECK(all / 18 == Approx(std::log(29.0)).epsilon(1e-6));  // nothing is left of the tokens
}

TEST_CASE("Dropout masks are the same in both attention paths and however the batch is cut") {
    const auto gradients = [](const char* path, bool cut, bool fuse) {
        const Config config = model({std::string("runtime.attention=") + path, "model.attention_dropout=0.3",
                                     "model.embd_pdrop=0.2", "model.resid_pdrop=0.1"});
        CompileOptions options = sized(Mode::train, cut ? 1 : 3, 9);
        options.fuse = fuse;
        Run run(config, options);
        for (std::int64_t row = 0; row < (cut ? 3 : 1); ++row) {
            const auto tokens = run.values<std::int32_t>("tokens"), targets = run.values<std::int32_t>("targets");
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                tokens[i] = static_cast<std::int32_t>((static_cast<std::size_t>(row) * 9 + i) % 23);
                targets[i] = (tokens[i] + 3) % 29;
            }
            RunArgs args;
            args.seed = 77;
            args.step = 4;
            args.accumulate = row > 0;
            args.first_row = row;
            run.run(args);
        }
        return run.gradients();
    };
    const auto expected = gradients("tiled", false, true);
    CHECK(largest_difference(gradients("explicit", false, true), expected) < 2e-5);
    CHECK(largest_difference(gradients("tiled", true, true), expected) < 2e-5);
    CHECK(largest_difference(gradients("tiled", false, false), expected) < 2e-5);
}
