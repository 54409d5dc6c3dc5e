#include "cli/process.hpp"
#include "support/catch.hpp"

namespace {

std::vector<std::string> small(const std::string& subcommand, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{subcommand, config_path("repeat_h4.json"), "--set", "model.hidden_size=8",
                                       "--set",    "model.vocab_size=7"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace

TEST_CASE("check passes on a small model: gradients, kernels, norms, and all") {
    const Outcome gradients = call(small("check", {"--gradients"}));
    CHECK(gradients.code == 0);
    CHECK(gradients.err == "");
    CHECK_THAT(gradients.out, contains("wte.weight"));
    const Outcome kernels = call(small("check", {"--kernels"}));
    CHECK(kernels.code == 0);
    CHECK_THAT(kernels.out, contains("attention"));
    const Outcome norms = call(small("check", {"--norms", "--set", "model.norm=layernorm"}));
    CHECK(norms.code == 0);
    CHECK_THAT(norms.out, contains("pre-norm") && contains("post-norm") && contains("layer 0"));
    const Outcome all = call(small("check", {}));
    CHECK(all.code == 0);
    CHECK_THAT(all.out, contains(gradients.out + "\n" + kernels.out + "\n"));
}

TEST_CASE("S3-13..17: trace prints shapes, weights and what they add up to") {
    const Outcome trace = call({"trace", config_path("repeat_h4.json"), "--set", "model.hidden_size=64"});
    CHECK(trace.code == 0);
    CHECK(trace.err == "");
    CHECK_THAT(trace.out, contains("(2, 5, 64)") && contains("(2, 4, 5, 5)") &&
                              contains("future_attention_mass_for_batch0_head0=0.0000000000"));
    const Outcome layer = call({"trace", config_path("repeat_h4.json"), "--layer", "1"});
    CHECK(layer.code == 1);
    CHECK_THAT(layer.err, contains("causeway trace: "));
    CHECK(lines_of(layer.err).size() == 1);
}
