#include "inspect/gradient_norms.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("S2-12: gradient norms by layer at the start are PyTorch's, pre- and post-norm", "[inspect]") {
    std::ifstream file(CAUSEWAY_TESTS_DIR "/golden/gradient_norms.json");
    const auto golden = nlohmann::json::parse(file);
    REQUIRE(golden.size() == 2);
    for (const auto& [name, expected] : golden.items()) {
        INFO(name);
        const Config config = load_config(fmt::format("{}/../configs/{}.json", CAUSEWAY_TESTS_DIR, name));
        const GradientNorms norms = initial_gradient_norms(config);
        CHECK(norms.loss == Approx(expected.at("loss").get<double>()).epsilon(1e-6));
        // A post-norm model has no norm of its own before the tied head.
        REQUIRE(norms.parts.size() == expected.at("norms").size());
        for (const PartNorm& part : norms.parts) {
            INFO(part.part);
            CHECK(part.norm == Approx(expected.at("norms").at(part.part).get<double>()).epsilon(1e-5));
        }
    }
}

TEST_CASE("The table of gradient norms has both orders, and says why when there is none", "[inspect]") {
    Config config = tiny_config();
    const std::string text = gradient_norms_text(resolved(config));
    for (const char* word : {"pre-norm", "post-norm", "embedding", "layer 1"}) CHECK_THAT(text, contains(word));
    config.model.norm = NormKind::none;
    CHECK_THAT(gradient_norms_text(resolved(config)), contains("model.norm is none"));
}
