#include "infer/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "support/catch.hpp"
#include "train/allocation_counter.hpp"

using namespace causeway;
using namespace causeway::infer;

namespace {

Config decoder_config(const std::vector<std::string>& overrides = {}) {
    return parse_config(R"({"model": {"vocab_size": 97, "hidden_size": 40, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 64, "initializer_range": 0.4},
        "data": {"source": "repeat"}, "train": {"batch_size": 1}})",
                        "test", overrides);
}

std::vector<std::int32_t> some_tokens(std::size_t count, std::int32_t first) {
    std::vector<std::int32_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::int32_t>((first + 31 * i * i) % 97);
    return ids;
}

/// Logits (T,V) of a sequence from the plan that knows no cache.
std::vector<float> whole_logits(const Config& config, const std::vector<std::int32_t>& ids) {
    SharedLayout shared;
    CompileOptions options;
    options.mode = Mode::logits;
    options.batch = 1;
    options.sequence_length = static_cast<std::int64_t>(ids.size());
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, options, shared));
    ModelRuntime runtime(std::move(plans), 1);
    runtime.initialize(3);
    Executor& executor = runtime.executor("logits");
    std::ranges::copy(ids, executor.values<std::int32_t>("tokens").begin());
    executor.run(Phase::step, {});
    const auto logits = executor.values<const float>("logits");
    return {logits.begin(), logits.end()};
}

double distance(std::span<const float> found, std::span<const float> expected) {
    double worst = 0;
    for (std::size_t v = 0; v < found.size(); ++v) worst = std::max(worst, std::abs(double{found[v]} - expected[v]));
    return worst;
}

std::span<const std::int32_t> part(const std::vector<std::int32_t>& ids, std::size_t begin, std::size_t count) {
    return std::span(ids).subspan(begin, count);
}

/// One argument a row.
template <class... Rows>
void feed(Decoder& decoder, const Rows&... rows) {
    const std::span<const std::int32_t> spans[]{rows...};
    decoder.feed(spans);
}

/// Reads the ids in pieces; the logits after each must be those of the whole sequence (T,V).
void check_in_pieces(Decoder& decoder, const std::vector<std::int32_t>& ids, std::size_t piece,
                     std::span<const float> expected) {
    for (std::size_t at = 0; at < ids.size(); at += piece) {
        const auto next = part(ids, at, std::min(piece, ids.size() - at));
        feed(decoder, next);
        const std::size_t last = at + next.size() - 1;
        CHECK(distance(decoder.logits(0), expected.subspan(last * 97, 97)) < 1e-4);
    }
}

}  // namespace

TEST_CASE("B29: logits with a cache, in chunks of 1, 2, 7 or all at once, are those of the whole sequence") {
    for (const char* attention : {"tiled", "explicit"}) {
        const Config config = decoder_config({std::string("runtime.attention=") + attention});
        const std::vector<std::int32_t> ids = some_tokens(50, 11);
        const std::vector<float> expected = whole_logits(config, ids);
        for (const std::size_t chunk : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{50}}) {
            INFO(attention << ", chunks of " << chunk);
            Decoder decoder(config, {1, 0, static_cast<std::int64_t>(chunk)});
            decoder.runtime().initialize(3);
            check_in_pieces(decoder, ids, chunk, expected);
            CHECK(decoder.length(0) == 50);
            decoder.clear();  // the same in one call, cut into chunks by the decoder
            feed(decoder, ids);
            CHECK(distance(decoder.logits(0), std::span(expected).subspan(49 * 97, 97)) < 1e-4);
        }
    }
}

TEST_CASE("B29: grouped heads, rotary positions, QK-norm and gated MLPs with a cache") {
    const Config config = decoder_config(
        {"model.num_key_value_heads=2", "model.head_dim=16", "model.qk_norm=true", "model.position_embedding=rope",
         "model.norm=rmsnorm", "model.mlp=gated", "model.hidden_act=silu", "model.rope_parameters.rope_type=llama3",
         "model.rope_parameters.factor=2", "model.rope_parameters.original_max_position_embeddings=32"});
    const std::vector<std::int32_t> ids = some_tokens(64, 11);  // up to the end of the context
    const std::vector<float> expected = whole_logits(config, ids);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{30}}) {
        Decoder decoder(config, {1, 0, 16});
        decoder.runtime().initialize(3);
        check_in_pieces(decoder, ids, chunk, expected);
    }
    const Config dynamic =
        decoder_config({"model.position_embedding=rope", "model.rope_parameters.rope_type=dynamic",
                        "model.rope_parameters.factor=2", "model.rope_parameters.original_max_position_embeddings=32"});
    CHECK(Decoder(dynamic, {}).capacity() == 32);
}

TEST_CASE("B32: rows of different lengths do not see each other") {
    const Config config = decoder_config();
    const std::vector<std::int32_t> a = some_tokens(23, 5), b = some_tokens(9, 60), c = some_tokens(14, 2);
    Decoder decoder(config, {3, 0, 8});
    decoder.runtime().initialize(3);
    const auto check = [&](std::int64_t row, const std::vector<std::int32_t>& ids, std::size_t count) {
        const std::vector<float> expected = whole_logits(config, {ids.begin(), ids.begin() + static_cast<long>(count)});
        CHECK(decoder.length(row) == static_cast<std::int64_t>(count));
        CHECK(distance(decoder.logits(row), std::span(expected).last(97)) < 1e-4);
    };
    feed(decoder, part(a, 0, 20), part(b, 0, 3), part(c, 0, 0));
    check(0, a, 20);
    check(1, b, 3);
    feed(decoder, part(a, 20, 1), part(b, 3, 6), part(c, 0, 13));
    check(0, a, 21);
    check(1, b, 9);
    check(2, c, 13);
    feed(decoder, part(a, 21, 0), part(b, 9, 0), part(c, 13, 1));
    check(2, c, 14);
    decoder.clear(1);
    feed(decoder, part(a, 21, 2), part(b, 0, 5), part(c, 14, 0));
    check(0, a, 23);
    check(1, b, 5);
}

TEST_CASE("A decoder gives the same bits on 1, 2 and 3 threads") {
    std::vector<std::vector<float>> found;
    for (const char* threads : {"1", "2", "3"}) {
        const Config config = decoder_config({std::string("runtime.threads=") + threads, "model.hidden_size=256"});
        Decoder decoder(config, {2, 0, 16});
        decoder.runtime().initialize(3);
        const std::vector<std::int32_t> a = some_tokens(33, 5), b = some_tokens(7, 60);
        feed(decoder, a, b);
        feed(decoder, part(a, 0, 1), part(b, 0, 1));
        found.emplace_back(decoder.logits(0).begin(), decoder.logits(0).end());
        found.back().insert(found.back().end(), decoder.logits(1).begin(), decoder.logits(1).end());
    }
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
}

TEST_CASE("B30: more tokens than the context are refused with the limit, and nothing is read") {
    Decoder decoder(decoder_config(), {1, 8, 512});
    CHECK(decoder.capacity() == 8);
    const std::vector<std::int32_t> ids = some_tokens(9, 1);
    feed(decoder, part(ids, 0, 6));
    CHECK_THROWS_MESSAGE(feed(decoder, part(ids, 0, 3)), DataError,
                         "row 0 has 6 tokens in the cache and gets 3 more, expected at most 8 in all: the context");
    CHECK(decoder.length(0) == 6);
    feed(decoder, part(ids, 6, 2));
    CHECK(decoder.length(0) == 8);
    CHECK_THROWS_MESSAGE(feed(decoder, part(ids, 0, 1)), DataError, "expected at most 8");
    CHECK(Decoder(decoder_config(), {1, 1000, 512}).capacity() == 64);
    CHECK_THROWS_MESSAGE(Decoder(decoder_config(), {0, 8, 512}), ConfigError, "batch: found 0");
    CHECK_THROWS_MESSAGE(Decoder(decoder_config(), {1, 8, 0}), ConfigError, "chunk: found 0");
}

TEST_CASE("Decoding allocates nothing") {
    const Config config = decoder_config({"runtime.threads=1"});
    Decoder decoder(config, {2, 0, 16});
    decoder.runtime().initialize(3);
    const std::vector<std::int32_t> a = some_tokens(33, 5), b = some_tokens(7, 60);
    const auto decode = [&] {
        decoder.clear();
        feed(decoder, a, b);
        for (std::size_t i = 0; i < 20; ++i) feed(decoder, part(a, i, 1), part(b, i % 7, 1));
    };
    decode();
    allocation_counter::start();
    decode();
    CHECK(allocation_counter::stop().own == 0);
}
