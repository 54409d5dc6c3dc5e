#include "inspect/trace.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// MiniMind's attention, small: hidden 64, heads 4 that share 2 heads of keys and values.
Config minimind_lesson(std::int64_t hidden = 64, std::int64_t heads = 4, std::int64_t kv_heads = 2) {
    Config config = tiny_config();
    config.model.hidden_size = hidden;
    config.model.num_attention_heads = heads;
    config.model.num_key_value_heads = kv_heads;
    config.model.intermediate_size = 0;
    config.model.num_hidden_layers = 1;
    config.model.position_embedding = PositionKind::rope;
    config.model.norm = NormKind::rmsnorm;
    config.model.qk_norm = true;
    config.model.mlp = MlpKind::gated;
    config.model.hidden_act = Activation::silu;
    config.model.attention_bias = config.model.mlp_bias = false;
    config.train.sequence_length = 5;
    return resolved(config);
}

Shape shape_of(const std::vector<TraceEntry>& entries, const std::string& name) {
    const auto entry = std::ranges::find(entries, name, &TraceEntry::name);
    REQUIRE(entry != entries.end());
    CHECK(!entry->meaning.empty());
    return entry->shape;
}

}  // namespace

TEST_CASE("S3-13: the trace of a small attention block", "[inspect]") {
    const Trace trace = trace_model(minimind_lesson());
    for (const char* name : {"x", "q", "heads", "output"}) {
        INFO(name);
        CHECK(shape_of(trace.attention, name) == Shape{2, 5, 64});
    }
    for (const char* name : {"k", "v"}) CHECK(shape_of(trace.attention, name) == Shape{2, 5, 32});
    for (const char* name : {"normed q", "rotated q", "repeated k", "repeated v"}) {
        CHECK(shape_of(trace.attention, name) == Shape{2, 5, 4, 16});
    }
    for (const char* name : {"normed k", "rotated k"}) CHECK(shape_of(trace.attention, name) == Shape{2, 5, 2, 16});
    CHECK(shape_of(trace.attention, "scores") == Shape{2, 4, 5, 5});
    CHECK(shape_of(trace.attention, "weights") == Shape{2, 4, 5, 5});
    CHECK(trace.head_dim == 16);
}

TEST_CASE("S3-17: six heads that share three", "[inspect]") {
    const Trace trace = trace_model(minimind_lesson(96, 6, 3));
    CHECK(trace.head_dim == 16);
    CHECK(shape_of(trace.attention, "k") == Shape{2, 5, 48});
    CHECK(shape_of(trace.attention, "repeated k") == Shape{2, 5, 6, 16});
    CHECK(shape_of(trace.attention, "scores") == Shape{2, 6, 5, 5});
}

TEST_CASE("S3-15, S3-16: no weight on the future, rows sum to 1", "[inspect]") {
    const Trace trace = trace_model(minimind_lesson());
    CHECK(trace.future_mass == 0);
    CHECK(trace.future_mass_everywhere == 0);
    CHECK(trace.largest_row_sum_error < 1e-6);
    REQUIRE(trace.weights.size() == 25);
    CHECK(trace.weights[0] == 1);
    for (double sum : trace.row_sums) CHECK(std::abs(sum - 1) < 1e-6);
    // The weights are the softmax of the scores.
    const double e0 = std::exp(trace.scores[5]), e1 = std::exp(trace.scores[6]);
    CHECK(trace.weights[5] == Approx(e0 / (e0 + e1)).epsilon(1e-5));
}

TEST_CASE("S3-17: explicit and tiled attention agree, and the explicit one is the textbook's exactly", "[inspect]") {
    for (std::int64_t layer : {0, 1}) {
        TraceOptions options;
        options.layer = layer;
        options.sequence_length = 8;
        const Trace trace = trace_model(resolved(tiny_config()), options);
        CHECK(trace.explicit_vs_fast <= 1e-6);
        CHECK(trace.explicit_vs_reference_order == 0);
    }
    const Trace grouped = trace_model(minimind_lesson());
    CHECK(grouped.explicit_vs_fast <= 1e-6);
    CHECK(grouped.explicit_vs_reference_order == 0);
}

TEST_CASE("S2-13, S2-14: the knowledge card's shapes", "[inspect]") {
    Config config = tiny_config();
    config.model.hidden_size = 256;
    config.model.num_attention_heads = 8;
    config.model.intermediate_size = 0;
    config.model.max_position_embeddings = 10;
    config.train.sequence_length = 10;
    TraceOptions options;
    options.sequence_length = 10;
    const Trace trace = trace_model(resolved(config), options);
    CHECK(shape_of(trace.attention, "output") == Shape{2, 10, 256});
    CHECK(shape_of(trace.attention, "weights") == Shape{2, 8, 10, 10});
    double total = 0;
    for (double sum : trace.row_sums) total += sum;
    CHECK(total == Approx(10.0).epsilon(1e-6));
}

TEST_CASE("S2-13, S2-14: the knowledge card's config, whole and with its mask", "[inspect]") {
    const Config config = load_config(CAUSEWAY_TESTS_DIR "/../configs/knowledge_card.json");
    TraceOptions options;
    const Trace open = trace_model(config, options);
    CHECK(shape_of(open.attention, "output") == Shape{2, 10, 256});
    CHECK(shape_of(open.attention, "weights") == Shape{2, 8, 10, 10});
    double total = 0;
    for (double sum : open.row_sums) total += sum;
    CHECK(total == Approx(10.0).epsilon(1e-6));
    CHECK(open.largest_row_sum_error < 1e-6);
    CHECK(std::ranges::all_of(open.weights, [](double w) { return w > 0; }));
    CHECK(open.explicit_vs_fast <= 1e-6);
    CHECK(open.explicit_vs_reference_order == 0);

    options.mask = read_attention_mask(CAUSEWAY_TESTS_DIR "/../configs/knowledge_card_mask.npy");
    const Trace masked = trace_model(config, options);
    CHECK(masked.hidden_mass == 0);
    CHECK(masked.blind_queries == 16);  // the last query of 2 sequences and 8 heads
    CHECK(masked.largest_row_sum_error < 1e-6);
    CHECK(masked.row_sums.back() == 0);
    CHECK(masked.weights[5] == 0);
    CHECK(masked.explicit_vs_fast <= 1e-6);
    CHECK(masked.explicit_vs_reference_order == 0);
    options.sequence_length = 10;
    options.mask->shape = {5, 20};
    CHECK_THROWS_MESSAGE(trace_model(config, options), GraphError, "mask must be u8 (10,10)");
}

TEST_CASE("A trace with windows, ALiBi and a scale of its own still is the textbook's", "[inspect]") {
    for (const bool causal : {true, false}) {
        Config config = tiny_config();
        config.model.causal = causal;
        config.model.sliding_window = 2;
        config.model.position_embedding = PositionKind::alibi;
        config.model.attention_scale = 0.6;
        TraceOptions options;
        options.sequence_length = 8;
        const Trace trace = trace_model(resolved(config), options);
        CHECK(trace.explicit_vs_fast <= 1e-6);
        CHECK(trace.explicit_vs_reference_order == 0);
        CHECK(trace.hidden_mass == 0);
        CHECK(trace.weights[7 * 8 + 4] == 0);
        CHECK((trace.weights[7 * 8 + 5] == 0) ==
              causal);  // two keys back is inside only where the window has two sides
    }
}

TEST_CASE("S3-18: every value of the forward pass has a name, a shape and a meaning", "[inspect]") {
    TraceOptions options;
    options.sequence_length = 5;
    const Trace trace = trace_model(resolved(tiny_config()), options);
    CHECK(shape_of(trace.intermediates, "tokens") == Shape{2, 5});
    CHECK(shape_of(trace.intermediates, "h.1.attn.qkv") == Shape{2, 5, 36});
    CHECK(shape_of(trace.intermediates, "h.0.mlp.act") == Shape{2, 5, 20});
    CHECK(shape_of(trace.intermediates, "logits") == Shape{2, 5, 17});
    CHECK(shape_of(trace.intermediates, "h.1.attn.heads.weights") == Shape{2, 3, 5, 5});
    for (const TraceEntry& entry : trace.intermediates) CHECK(!entry.meaning.empty());
}

TEST_CASE("The trace's text has the lines of the lesson", "[inspect]") {
    const std::string text = trace_text(trace_model(minimind_lesson()));
    for (const char* line :
         {"hidden_size=64 num_attention_heads=4 num_key_value_heads=2 head_dim=16\n",
          "future_attention_mass_for_batch0_head0=0.0000000000\n",
          "explicit_vs_reference_order_max_abs_diff=0.0000000000\n", "explicit_vs_fast_max_abs_diff=0.000000",
          "[[ 1.0000  0.0000  0.0000  0.0000  0.0000]\n"}) {
        CHECK_THAT(text, contains(line));
    }
    const std::string sum = "\nsum_for_batch0_head0=";
    REQUIRE_THAT(text, contains(sum));
    // To the lesson's six digits: compilers round the weights differently, and 4.9999999 is as good as 5.0000001.
    CHECK(fmt::format("{:.6f}", std::stod(text.substr(text.find(sum) + sum.size()))) == "5.000000");
}

TEST_CASE("A trace of what does not exist says what does", "[inspect]") {
    const Config config = resolved(tiny_config());
    TraceOptions options;
    options.layer = 2;
    CHECK_THROWS_MESSAGE(trace_model(config, options), DataError, "layer 2 does not exist: there are 2 (0 to 1)");
    options = {};
    options.sequence_length = 9;
    CHECK_THROWS_MESSAGE(trace_model(config, options), DataError, "sequence length must be 1 to 8");
    options = {};
    options.batch = 0;
    CHECK_THROWS_MESSAGE(trace_model(config, options), DataError, "batch must be at least 1");
}
