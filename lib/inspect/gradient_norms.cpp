#include "inspect/gradient_norms.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "exec/model_runtime.hpp"
#include "inspect/check_model.hpp"
#include "inspect/text_table.hpp"

namespace causeway {
namespace {

/// "h.3.mlp.fc.weight.grad" belongs to layer 3.
std::string part_of(const std::string& gradient) {
    if (gradient.starts_with("h.")) return "layer " + gradient.substr(2, gradient.find('.', 2) - 2);
    return gradient.starts_with("wte.") || gradient.starts_with("wpe.") ? "embedding" : "head";
}

double square_sum(const TensorView& view) {
    double sum = 0;
    for (std::int64_t i = 0; i < view.desc.stored_elements; ++i) {
        const auto x = static_cast<double>(view.as<const float>()[i]);
        sum += x * x;
    }
    return sum;
}

ModelRuntime make_runtime(const Config& config) {
    CompileOptions options;
    options.mode = Mode::train;
    options.batch = std::min<std::int64_t>(config.train.batch_size, 4);
    options.sequence_length = std::min<std::int64_t>(config.train.sequence_length, 64);
    options.dropout = false;
    SharedLayout layout;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, options, layout));
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

}  // namespace

GradientNorms initial_gradient_norms(const Config& config) {
    ModelRuntime runtime = make_runtime(config);
    runtime.initialize(config.train.seed);
    Executor& executor = runtime.executor("train");
    const std::span<std::int32_t> targets = executor.values<std::int32_t>("targets");
    draw_check_batch(config.model.vocab_size, config.train.seed, executor.values<std::int32_t>("tokens"), targets);
    const auto valid = static_cast<double>(std::ranges::count_if(targets, is_scored));
    executor.run(Phase::step, {});
    GradientNorms norms;
    norms.loss = executor.values<double>("loss")[0] / valid;
    for (const NamedTensor& gradient : runtime.gradients()) {
        const std::string part = part_of(gradient.name);
        auto known = std::ranges::find(norms.parts, part, &PartNorm::part);
        if (known == norms.parts.end()) known = norms.parts.insert(known, {part, 0});
        known->norm += square_sum(gradient.view) / (valid * valid);
    }
    for (PartNorm& part : norms.parts) part.norm = std::sqrt(part.norm);
    // Gradients come in backward's order; a reader expects the model's.
    const auto order = [](const PartNorm& part) {
        if (part.part == "embedding") return -1.0;
        return part.part == "head" ? INFINITY : std::stod(part.part.substr(part.part.find(' ')));
    };
    std::ranges::sort(norms.parts, {}, order);
    return norms;
}

std::string gradient_norms_text(const Config& config) {
    if (config.model.norm == NormKind::none)
        return "gradient norms by layer: model.norm is none, there are no orders\n";
    Config pre = config, post = config;
    pre.model.norm_placement = NormPlacement::pre;
    post.model.norm_placement = NormPlacement::post;
    const GradientNorms before = initial_gradient_norms(pre), after = initial_gradient_norms(post);
    constexpr auto right = TextTable::Align::right;
    TextTable table({{"part"}, {"pre-norm", right}, {"post-norm", right}});
    for (std::size_t i = 0; i < std::max(before.parts.size(), after.parts.size()); ++i) {
        const auto norm = [&](const GradientNorms& norms) {
            return i < norms.parts.size() ? fmt::format("{:.6g}", norms.parts[i].norm) : "-";
        };
        table.add({i < before.parts.size() ? before.parts[i].part : after.parts[i].part, norm(before), norm(after)});
    }
    return fmt::format("norm of the gradient at the start, of the mean loss ({:.4f} pre-norm, {:.4f} post-norm)\n{}",
                       before.loss, after.loss, table.str());
}

}  // namespace causeway
