#include "inspect/attention_maps.hpp"

#include <cmath>

#include "causeway/error.hpp"
#include "inspect/tiny_config.hpp"
#include "io/npy.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/xml.hpp"

using namespace causeway;

namespace {

/// Every head's rows of weights sum to 1, with nothing on the future.
void check_maps(const Config& config) {
    AttentionInspector inspector(config, 2, 7);
    inspector.runtime().initialize(3);
    const std::vector<std::int32_t> ids{1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1};
    const AttentionMaps maps = inspector.run(ids);
    REQUIRE(maps.weights.size() == 2 * 2 * 3 * 7 * 7);
    for (std::int64_t layer = 0; layer < 2; ++layer) {
        for (std::int64_t b = 0; b < 2; ++b) {
            for (std::int64_t head = 0; head < 3; ++head) {
                const std::span<const float> map = maps.map(layer, b, head);
                for (std::size_t t = 0; t < 7; ++t) {
                    double sum = 0;
                    for (std::size_t s = 0; s < 7; ++s) {
                        sum += static_cast<double>(map[t * 7 + s]);
                        if (s > t) CHECK(map[t * 7 + s] == 0.0f);
                    }
                    CHECK(std::abs(sum - 1) < 1e-5);
                }
            }
        }
    }
    // Two sequences differ, and so do their weights.
    CHECK(!std::ranges::equal(maps.map(1, 0, 0), maps.map(1, 1, 0)));
}

}  // namespace

TEST_CASE("S1-14: attention weights of every layer and head on request", "[inspect]") {
    check_maps(resolved(tiny_config()));
    Config config = tiny_config();  // three query heads on one of keys and values
    config.model.num_key_value_heads = 1;
    config.model.qk_norm = true;
    config.model.position_embedding = PositionKind::rope;
    check_maps(resolved(config));
}

TEST_CASE("Wrong requests for attention say what is possible", "[inspect]") {
    const Config config = resolved(tiny_config());
    CHECK_THROWS_MESSAGE(AttentionInspector(config, 1, 9), DataError, "9 tokens were given; the model takes 1 to 8");
    CHECK_THROWS_AS(AttentionInspector(config, 1, 0), DataError);
    AttentionInspector inspector(config, 1, 2);
    inspector.runtime().initialize(3);
    CHECK_THROWS_MESSAGE(inspector.run(std::vector<std::int32_t>{1}), DataError, "need 2 ids, found 1");
    CHECK_THROWS_MESSAGE(inspector.run(std::vector<std::int32_t>{1, 17}), DataError, "17");
    const AttentionMaps maps = inspector.run(std::vector<std::int32_t>{1, 2});
    CHECK_THROWS_MESSAGE(maps.map(2, 0, 0), DataError, "layer 2 does not exist: there are 2 (0 to 1)");
    CHECK_THROWS_MESSAGE(maps.map(0, 0, -1), DataError, "head -1");
}

TEST_CASE("S1-15: a heatmap has ten glyphs, index floor(10 w) held within 0..9", "[inspect]") {
    const std::vector<float> map{1.0f, 0, 0, 0, 0.05f, 0.95f, 0, 0, 0.1f, 0.25f, 0.65f, 0, 0.35f, 0.4f, -0.01f, 0.26f};
    CHECK(heatmap_text(map, {"a", "bb", "c", "\u2423"}) ==
          " a |@   |\n"
          "bb | @  |\n"
          " c |.:* |\n"
          " \u2423 |-= :|\n");
    std::string glyphs;
    for (int i = 0; i <= 10; ++i)
        glyphs += heatmap_text(std::vector<float>{static_cast<float>(i) / 10 + 0.05f}, {""})[2];
    CHECK(glyphs == " .:-=+*#%@@");
    CHECK_THROWS_MESSAGE(heatmap_text(map, {"a"}), DataError, "16 weights does not fit 1 labels");
}

TEST_CASE("Bytes that cannot be seen have labels that can", "[inspect]") {
    const std::vector<std::int32_t> ids{'a', ' ', '\n', '\t', 0xC3, 0, '~', 300};
    CHECK(token_labels(byte_tokenizer().get(), ids) ==
          std::vector<std::string>{"a", "\u2423", "\u23CE", "\u21E5", "c3", "00", "~", "300"});
    CHECK(token_labels(nullptr, ids).front() == "97");
}

TEST_CASE("Pictures of attention are well formed and complete", "[inspect]") {
    const std::vector<float> map{1, 0, 0.25f, 0.75f};
    const auto counts = XmlReader::element_counts(heatmap_svg(map, {"<", "&"}, "a \"title\" & more"));
    CHECK(counts.at("title") == 1 + 3);  // of the picture and of each cell on or below the diagonal
    AttentionMaps maps{2, 1, 2, 2, {}};
    for (std::size_t i = 0; i < 16; ++i) maps.weights.push_back(map[i % 4]);
    maps.weights[2] = std::nanf("");
    CHECK_THAT(heatmap_grid_svg(maps, 0, "all"), contains("#ff00ff"));
    CHECK_NOTHROW(XmlReader::element_counts(heatmap_grid_svg(maps, 0, "all")));
    CHECK(heatmap_text(maps.map(0, 0, 0), {"a", "b"}) == "a |@ |\nb |?#|\n");
}

TEST_CASE("Weights go to .npy as (L,H,T,T) of one sequence", "[inspect]") {
    AttentionMaps maps{2, 2, 1, 2, {}};
    for (int i = 0; i < 16; ++i) maps.weights.push_back(static_cast<float>(i));
    const TemporaryFolder folder;
    const std::string path = folder.file("attention.npy");
    write_attention_npy(path, maps, 1);
    const NpyFile file(path);
    CHECK(file.desc().shape == Shape{2, 1, 2, 2});
    std::vector<float> read(8);
    file.read(std::span<float>(read));
    CHECK(read == std::vector<float>{4, 5, 6, 7, 12, 13, 14, 15});
    CHECK_THROWS_MESSAGE(write_attention_npy(path, maps, 2), DataError, "sequence 2 does not exist");
}
