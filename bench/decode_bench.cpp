#include <memory>
#include <numeric>
#include <vector>

#include "base/format.hpp"
#include "base/philox.hpp"
#include "families.hpp"
#include "infer/generator.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

struct Model {
    const char* name;
    const char* json;  ///< section "model"
    std::int64_t context, parameters;
};

constexpr const char* gpt2 = R"({"vocab_size": 50257, "hidden_size": 768, "num_hidden_layers": 12,
    "num_attention_heads": 12, "max_position_embeddings": 1024})";

constexpr const char* minimind = R"({"vocab_size": 6400, "hidden_size": 768, "num_hidden_layers": 8,
    "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 2432, "max_position_embeddings": 32768,
    "position_embedding": "rope", "rope_parameters": {"rope_theta": 1000000.0}, "norm": "rmsnorm", "qk_norm": true,
    "mlp": "gated", "hidden_act": "silu", "attention_bias": false, "mlp_bias": false})";

constexpr Model models[] = {{"gpt2-124M", gpt2, 1024, 124'439'808}, {"minimind-64M", minimind, 1024, 63'912'192}};

constexpr std::int64_t prompt_tokens = 16, new_tokens = 64;

std::shared_ptr<infer::Generator> make_generator(const Model& model, std::int64_t batch) {
    const Config config =
        parse_config(fmt::format(R"({{"model": {}, "data": {{"source": "repeat"}}, "train": {{"batch_size": 1}},
                                      "runtime": {{"threads": {}}}}})",
                                 model.json, setup().threads),
                     model.name);
    auto generator = std::make_shared<infer::Generator>(config, infer::DecoderOptions{batch, model.context, 512});
    RandomStream random(1, 1);
    for (const NamedTensor& tensor : generator->parameters()) {
        float* const data = tensor.view.as<float>();
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) {
            data[i] = static_cast<float>(0.04 * random.next_uniform() - 0.02);
        }
    }
    generator->refresh();
    return generator;
}

std::vector<std::int32_t> counting(std::int64_t length) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(length));
    std::iota(ids.begin(), ids.end(), 1);
    return ids;
}

/// 16 tokens read, 64 generated greedily for each row, all of it timed. Bytes are those of the parameters once a token
/// of a row: what has to come from memory.
void add_decode(const Model& model, std::int64_t batch) {
    const auto weights = 4.0 * static_cast<double>(model.parameters);
    const Work work{.bytes = static_cast<double>(new_tokens) * weights,
                    .stream = Stream::read,
                    .distinct_bytes = weights,
                    .tokens = static_cast<double>(batch * new_tokens)};
    add_case(fmt::format("decode/f32/{}-B{}", model.name, batch), work, [model, batch] {
        auto generator = make_generator(model, batch);
        const std::vector<std::vector<std::int32_t>> prompts(static_cast<std::size_t>(batch), counting(prompt_tokens));
        infer::GenerationOptions options;
        options.max_new_tokens = new_tokens;
        options.sampling.temperature = 0;
        return [generator, prompts, options] { generator->generate(prompts, options); };
    });
}

/// One prompt read, up to the logits of the token after it.
void add_prefill(const Model& model, std::int64_t length, double flops) {
    add_case(fmt::format("prefill/f32/{}-B1T{}", model.name, length),
             {.flops = flops, .tokens = static_cast<double>(length)}, [model, length] {
                 auto generator = make_generator(model, 1);
                 const std::vector<std::int32_t> prompt = counting(length);
                 return [generator, prompt] { generator->next_logits(prompt); };
             });
}

/// 2 FLOPs a parameter of a block's matrix products and token, attention's causal products, one row of the head.
double gpt2_prefill_flops(double length) {
    const double width = 768, layers = 12, vocab = 50257;
    return layers * (24 * width * width * length + 4 * width * length * (length + 1) / 2) + 2 * vocab * width;
}

}  // namespace

void register_decode() {
    for (const Model& model : models) {
        for (const std::int64_t batch : {1, 4, 8}) add_decode(model, batch);
    }
    for (const std::int64_t length : {64, 512}) {
        add_prefill(models[0], length, gpt2_prefill_flops(static_cast<double>(length)));
    }
}

}  // namespace causeway::bench
