#include <cmath>
#include <limits>

#include "base/format.hpp"
#include "base/isa.hpp"
#include "support/catch.hpp"
#include "train/train_support.hpp"

// A NaN in any parameter reaches the loss, in training and in evaluation, whatever the op that reads it, and the error
// names the op and the parameter.

using namespace causeway;
using namespace causeway::train;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Model {
    const char* name;
    std::vector<std::string> overrides;
};

std::vector<Model> models() {
    return {
        {"gpt2", {}},
        {"relu, explicit attention, alibi, post-norm",
         {"model.hidden_act=relu", "runtime.attention=explicit", "model.position_embedding=alibi",
          "model.norm_placement=post"}},
        {"gelu, window, untied head, dropout",
         {"model.hidden_act=gelu", "model.sliding_window=4", "model.tie_word_embeddings=false",
          "model.lm_head_bias=true", "model.attention_dropout=0.1", "model.resid_pdrop=0.1", "model.embd_pdrop=0.1"}},
        {"minimind", minimind_blocks()},
        {"experts", expert_blocks()},
        {"experts, gelu_new",
         expert_blocks({"model.hidden_act=gelu_new", "model.norm_topk_prob=false", "model.num_experts_per_tok=1"})},
    };
}

/// Batches of all tokens, so that every row of the embedding is read; 4 x 13 of them.
TrainerOptions every_token(const Config& config) {
    std::vector<std::int32_t> inputs, targets;
    for (std::int32_t i = 0; i < 4 * 13; ++i) {
        inputs.push_back(i % 29);
        targets.push_back((i * 7 + 3) % 29);
    }
    TrainerOptions options = on_rows(config, inputs, targets);
    options.data.validation = std::make_unique<WrittenRows>(4, 13, inputs, targets, 4);
    return options;
}

/// One element; of experts all, because a token goes through some of them only.
void poison(const NamedTensor& parameter, std::int64_t element, std::vector<float>& before) {
    float* data = parameter.view.as<float>();
    const std::int64_t size = parameter.view.desc.stored_elements;
    before.assign(data, data + size);
    if (parameter.view.desc.shape.rank() == 3) {
        std::fill(data, data + size, not_a_number);
    } else {
        data[element] = not_a_number;
    }
}

/// The message of the NumericError that f ends with; empty when it ends well.
template <class F>
std::string error_of(F f) {
    try {
        f();
    } catch (const NumericError& error) {
        return error.what();
    }
    return "";
}

void check_parameter(Trainer& trainer, const NamedTensor& parameter, std::int64_t element) {
    CAPTURE(parameter.name, element);
    std::vector<float> before;
    poison(parameter, element, before);
    trainer.refresh();
    const std::string named = "parameter '" + parameter.name + "' is nan";
    CHECK_THAT(error_of([&] { trainer.step(); }), contains("is nan: ") && contains(named));
    CHECK_THAT(error_of([&] { trainer.evaluate(); }), contains("validation loss is nan") && contains(named));
    std::copy(before.begin(), before.end(), parameter.view.as<float>());
    trainer.refresh();
}

enum class Elements { first_and_last, last };

void check_model(const Model& model, const std::string& isa, Elements elements) {
    CAPTURE(model.name, isa);
    std::vector<std::string> overrides = model.overrides;
    overrides.push_back("runtime.isa=" + isa);
    overrides.push_back("runtime.threads=1");
    const Config config = small_gpt2(overrides);
    Trainer trainer(config, every_token(config));
    for (const NamedTensor& parameter : trainer.parameters()) {
        if (elements == Elements::first_and_last) check_parameter(trainer, parameter, 0);
        check_parameter(trainer, parameter, parameter.view.desc.stored_elements - 1);
    }
    CHECK(trainer.step().updated);  // all is well again
    CHECK(std::isfinite(trainer.evaluate().loss));
}

}  // namespace

TEST_CASE(
    "B21: a NaN in any parameter of any kind of model ends the step and the evaluation, naming op and parameter") {
    const std::string isa(to_string(available_isas().back()));
    for (const Model& model : models()) check_model(model, isa, Elements::first_and_last);
}

TEST_CASE("B21: a NaN passes no kernel of any instruction set") {
    for (const Isa isa : available_isas()) {
        check_model(models()[0], std::string(to_string(isa)), Elements::last);
        check_model(models()[4], std::string(to_string(isa)), Elements::last);
    }
}

TEST_CASE("the first op that is not finite is named, not one further on") {
    Trainer trainer(small_gpt2(), every_token(small_gpt2()));
    find(trainer.parameters(), "h.1.mlp.fc.weight").view.as<float>()[5] = not_a_number;
    trainer.refresh();
    CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "'h.1.mlp.fc' (linear) is the first to give");
    CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "parameter 'h.1.mlp.fc.weight' is nan at element 5");
}

TEST_CASE("values that overflow on the way are traced to where they do") {
    Trainer trainer(small_gpt2(), every_token(small_gpt2()));
    const NamedTensor weight = find(trainer.parameters(), "h.0.attn.qkv.weight");
    for (std::int64_t i = 0; i < weight.view.desc.stored_elements; ++i) weight.view.as<float>()[i] = 3e38f;
    trainer.refresh();
    CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "'h.0.attn.qkv' (linear) is the first to give");
}

TEST_CASE("the micro-batch that went wrong is the one that is traced") {
    // Only the second micro-batch reads the poisoned position.
    const Config config = small_gpt2({"train.gradient_accumulation_steps=2", "train.batch_size=1",
                                      "train.sequence_length=3", "data.lookback=1", "model.tie_word_embeddings=false"});
    Trainer trainer(config, on_rows(config, {1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 7}));
    find(trainer.parameters(), "wte.weight").view.as<float>()[5 * 24] = not_a_number;
    trainer.refresh();
    CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "'embedding' (embedding) is the first to give");
}
