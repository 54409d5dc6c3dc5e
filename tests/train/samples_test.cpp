#include <cstring>

#include "infer/generator.hpp"
#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

Config sampled_config(const std::string& positions) {
    return small_gpt2({"train.gradient_accumulation_steps=2", "model.resid_pdrop=0.1", "model.attention_dropout=0.1",
                       "train.max_steps=8", "model.position_embedding=" + positions});
}

infer::DecoderOptions decoder_options() { return {1, 10, 16}; }

TrainerOptions with_decoder(const Config& config) {
    TrainerOptions options;
    options.companions = [config](SharedLayout& layout) {
        return infer::decoder_plans(config, decoder_options(), layout);
    };
    return options;
}

std::vector<std::string> bytes_of(const std::vector<NamedTensor>& tensors) {
    std::vector<std::string> all;
    for (const NamedTensor& tensor : tensors) {
        const auto* data = tensor.view.as<const float>();
        const auto size = static_cast<std::size_t>(tensor.view.desc.stored_elements) * sizeof(float);
        all.emplace_back(reinterpret_cast<const char*>(data), size);
    }
    return all;
}

}  // namespace

TEST_CASE("samples between steps change nothing of training, and are what the saved parameters give") {
    for (const char* positions : {"learned", "sinusoidal", "rope", "alibi"}) {
        CAPTURE(positions);
        const Config config = sampled_config(positions);
        Trainer plain(config), sampled(config, with_decoder(config));
        infer::Generator live(config, decoder_options(), sampled.runtime());
        infer::Generator apart(config, decoder_options());
        const std::vector<std::int32_t> prompt{3, 1, 4};
        infer::GenerationOptions options;
        options.max_new_tokens = 20;  // outgrows the capacity
        for (int step = 1; step <= 8; ++step) {
            const StepReport a = plain.step(), b = sampled.step();
            CHECK(a.loss == b.loss);
            CHECK(a.grad_norm == b.grad_norm);
            if (step % 4 != 0) continue;
            live.refresh();
            const auto text = live.generate(prompt, options);
            CHECK(text.size() == 20);
            const auto from = sampled.parameters();
            const auto to = apart.parameters();
            REQUIRE(from.size() == to.size());
            for (std::size_t i = 0; i < from.size(); ++i) {
                REQUIRE(from[i].name == to[i].name);
                std::memcpy(to[i].view.as<float>(), from[i].view.as<const float>(),
                            static_cast<std::size_t>(from[i].view.desc.stored_elements) * sizeof(float));
            }
            apart.refresh();
            CHECK(apart.generate(prompt, options) == text);
        }
        CHECK(bytes_of(plain.parameters()) == bytes_of(sampled.parameters()));
        CHECK(bytes_of(plain.moments()) == bytes_of(sampled.moments()));
        CHECK(sampled.memory_bytes() > plain.memory_bytes());
    }
}
