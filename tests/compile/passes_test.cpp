#include "compile/passes.hpp"

#include <algorithm>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "compile/schedule.hpp"
#include "exec/model_runtime.hpp"
#include "model/causal_lm.hpp"
#include "ops/ops.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

Config gpt2(const std::string& model = "") {
    return parse_config(
        R"({"model": {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 3, "vocab_size": 67)" + model +
            R"(}, "data": {"source": "repeat"}, "train": {"batch_size": 3, "sequence_length": 13, "max_grad_norm": 1}})",
        "test");
}

Graph forward(const Config& config) {
    CausalLmOptions options;
    options.batch = 3;
    options.sequence_length = 13;
    return build_causal_lm(config.model, options);
}

std::ptrdiff_t count(const Graph& graph, const OpDef& op) { return std::ranges::count(graph.nodes(), &op, &Node::op); }

/// Losses of some steps and the parameters after them.
std::vector<float> train(const Config& config, bool fuse, std::vector<double>& losses) {
    SharedLayout shared;
    CompileOptions options;
    options.fuse = fuse;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, options, shared));
    ModelRuntime runtime(std::move(plans), 1);
    runtime.initialize(5);
    Executor& executor = runtime.executor("train");
    for (std::int64_t step = 1; step <= 4; ++step) {
        std::int32_t i = 0;
        for (std::int32_t& id : executor.values<std::int32_t>("tokens"))
            id = (i++ * 7 + static_cast<std::int32_t>(step)) % 67;
        for (std::int32_t& id : executor.values<std::int32_t>("targets")) id = (i++ * 5) % 67;
        RunArgs args;
        args.step = step;
        args.learning_rate = 1e-3;
        args.valid_tokens = 39;
        for (Phase phase : {Phase::step, Phase::update}) executor.run(phase, args);
        losses.push_back(executor.values<double>("loss")[0]);
    }
    std::vector<float> all;
    for (const NamedTensor& tensor : runtime.parameters()) {
        all.insert(all.end(), tensor.view.as<float>(), tensor.view.as<float>() + tensor.view.desc.stored_elements);
    }
    return all;
}

}  // namespace

TEST_CASE("The loss is computed once: in the node that makes its gradients") {
    const Graph graph = fuse_loss(emit_backward(forward(gpt2()), "loss"));
    CHECK(count(graph, ops::lm_head_loss()) == 0);
    CHECK(count(graph, ops::lm_head_loss_backward()) == 1);
    CHECK(graph.find("loss"));
    CHECK_NOTHROW(verify(graph));
    CHECK(count(fuse_loss(forward(gpt2())), ops::lm_head_loss()) == 1);
}

TEST_CASE("Activations and residual sums become epilogues of the linear layers") {
    const Graph graph = fuse_loss(emit_backward(forward(gpt2()), "loss"));
    const Graph fused = fuse_epilogue(graph);
    CHECK_NOTHROW(verify(fused));
    CHECK(count(graph, ops::activation()) == 2);
    CHECK(count(fused, ops::activation()) == 0);
    CHECK(count(fused, ops::activation_backward()) == 2);
    CHECK(count(graph, ops::add()) - count(fused, ops::add()) == 4);
    CHECK(count(graph, ops::linear()) == count(fused, ops::linear()));
    const auto linear_with = [&](const std::string& attribute) {
        SharedLayout shared;
        return std::ranges::count_if(compile(gpt2(), {}, shared).nodes, [&](const PlannedNode& node) {
            return node.op == "linear" && node.attributes.find(attribute) != std::string::npos;
        });
    };
    CHECK(linear_with("activation=gelu_new") == 2);
    CHECK(linear_with("residual=true") == 4);
}

TEST_CASE("Each fusion has its switch, and CompileOptions::fuse turns all off") {
    const auto ops_of = [](const Config& config, bool fuse) {
        SharedLayout shared;
        CompileOptions options;
        options.fuse = fuse;
        std::vector<std::string> names;
        for (const PlannedNode& node : compile(config, options, shared).nodes) names.push_back(node.op);
        return names;
    };
    const auto has = [](const std::vector<std::string>& names, const std::string& op) {
        return std::ranges::find(names, op) != names.end();
    };
    const std::vector<std::string> fused = ops_of(gpt2(), true);
    for (const char* op : {"lm_head_loss", "activation", "add"}) CHECK_FALSE(has(fused, op));
    for (const char* op : {"lm_head_loss", "activation", "add"}) CHECK(has(ops_of(gpt2(), false), op));
    Config config = gpt2();
    config.runtime.fuse_loss = false;
    CHECK(has(ops_of(config, true), "lm_head_loss"));
    CHECK_FALSE(has(ops_of(config, true), "activation"));
    config.runtime.fuse_epilogue = false;
    CHECK(has(ops_of(config, true), "activation"));
    const auto adds = [&] { return std::ranges::count(ops_of(config, true), std::string("add")); };
    const auto before = adds();
    config.runtime.fuse_norm_residual = false;
    CHECK(adds() == before + 4);
}

TEST_CASE("The squares of a gradient are summed by the product that finishes it, and by nothing else") {
    Config config = gpt2();
    config.model.hidden_size = 384;
    config.model.head_dim = config.model.intermediate_size = 0;
    config = resolve_config(config);
    const auto square_sums = [&] {
        SharedLayout shared;
        std::vector<std::string> names;
        for (const PlannedNode& node : compile(config, {}, shared).nodes) {
            if (node.op == "square_sum") names.push_back(node.name);
        }
        return names;
    };
    const auto has = [](const std::vector<std::string>& names, const char* name) {
        return std::ranges::find(names, name) != names.end();
    };
    const std::vector<std::string> fused = square_sums();
    CHECK_FALSE(has(fused, "h.0.attn.qkv.weight.square_sum"));
    CHECK(has(fused, "h.0.attn.qkv.bias.square_sum"));
    CHECK(has(fused, "wte.weight.square_sum"));  // the embedding's backward adds to it after the head's product
    config.runtime.fuse_gradient_norm = false;
    CHECK(has(square_sums(), "h.0.attn.qkv.weight.square_sum"));
}

TEST_CASE("The sums of residual gradients join the norms' backward") {
    const Graph graph = fuse_loss(emit_backward(forward(gpt2()), "loss"));
    const Graph fused = fuse_norm_residual(graph);
    CHECK_NOTHROW(verify(fused));
    CHECK(count(graph, ops::add()) - count(fused, ops::add()) == 4);
    CHECK(count(graph, ops::layernorm_backward()) == count(fused, ops::layernorm_backward()));
    const Graph rms = fuse_loss(emit_backward(forward(gpt2(R"(, "norm": "rmsnorm")")), "loss"));
    const Graph rms_fused = fuse_norm_residual(rms);
    CHECK_NOTHROW(verify(rms_fused));
    CHECK(count(rms, ops::add()) - count(rms_fused, ops::add()) == 4);
    CHECK(count(rms, ops::rmsnorm_backward()) == count(rms_fused, ops::rmsnorm_backward()));
}

TEST_CASE("Fused and unfused plans agree over training steps") {
    for (const char* model : {"", R"(, "norm_placement": "post")", R"(, "hidden_act": "gelu")",
                              R"(, "residual": false)", R"(, "norm": "none")", R"(, "mlp": "none")",
                              R"(, "norm": "rmsnorm", "mlp": "gated", "hidden_act": "silu", "qk_norm": true,
                                   "position_embedding": "rope")"}) {
        INFO(model);
        std::vector<double> fused_losses, plain_losses;
        const std::vector<float> fused = train(gpt2(model), true, fused_losses);
        const std::vector<float> plain = train(gpt2(model), false, plain_losses);
        for (std::size_t i = 0; i < fused_losses.size(); ++i)
            CHECK(fused_losses[i] == Approx(plain_losses[i]).epsilon(1e-6));
        double worst = 0;
        for (std::size_t i = 0; i < fused.size(); ++i)
            worst = std::max(worst, std::abs(static_cast<double>(fused[i]) - plain[i]));
        // Adam divides by the gradient's size: rounding of a gradient near 0 shows as a part of a step of 1e-3.
        CHECK(worst < 2e-4);
    }
}

TEST_CASE("A frozen parameter has no gradient and no moments") {
    Graph graph = forward(gpt2());
    graph.value(graph.find("wpe.weight")).trainable = false;
    graph = emit_update(emit_backward(std::move(graph), "loss"), gpt2().train);
    CHECK_FALSE(graph.find("wpe.weight.grad"));
    CHECK_FALSE(graph.find("wpe.weight.m"));
    CHECK(graph.find("wte.weight.m"));
    CHECK_NOTHROW(verify(graph));
}

TEST_CASE("A trainable parameter that does not reach the loss is an error") {
    Graph graph = forward(gpt2());
    Value lost;
    lost.name = "lost";
    lost.desc = {DType::f32, {3}};
    lost.role = Role::parameter;
    lost.trainable = true;
    graph.add_value(lost);
    CHECK_THROWS_MESSAGE(emit_backward(std::move(graph), "loss"), GraphError,
                         "parameter 'lost' does not reach the loss");
}

TEST_CASE("B36: matrices and embeddings decay, gains and biases do not") {
    Config config = gpt2();
    config.train.weight_decay = 0.1;
    const Graph graph = emit_update(emit_backward(forward(config), "loss"), config.train);
    for (const Node& node : graph.nodes()) {
        if (node.op != &ops::adamw()) continue;
        INFO(node.name);
        CHECK(node.attributes.get<double>("weight_decay") == (graph.shape(node.input(0)).rank() == 2 ? 0.1 : 0.0));
    }
}

namespace {

/// The parameters that decay, by name.
std::vector<std::string> decaying(Config config, DecayScope scope, const OpDef& optimizer) {
    config.train.weight_decay = 0.1;
    config.train.weight_decay_scope = scope;
    const Graph graph = emit_update(emit_backward(forward(config), "loss"), config.train);
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) {
        if (node.op == &optimizer && node.attributes.get<double>("weight_decay") == 0.1) {
            names.push_back(graph.value(graph.storage_of(node.input(0))).name);
        }
    }
    std::ranges::sort(names);
    return names;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

TEST_CASE("B36: the scope of weight decay says which parameters decay, a tied head counts as an embedding") {
    Config config = gpt2();
    const auto matrices = decaying(config, DecayScope::matrices, ops::adamw());
    const auto linear = decaying(config, DecayScope::linear, ops::adamw());
    const auto all = decaying(config, DecayScope::all, ops::adamw());
    for (const char* name : {"wte.weight", "wpe.weight"}) {
        CHECK(holds(matrices, name));
        CHECK(!holds(linear, name));
    }
    CHECK(matrices.size() == linear.size() + 2);
    for (const char* name :
         {"h.0.attn.qkv.weight", "h.0.attn.proj.weight", "h.0.mlp.fc.weight", "h.0.mlp.proj.weight"}) {
        CHECK(holds(linear, name));
    }
    CHECK(holds(all, "h.0.ln_1.weight"));
    CHECK(holds(all, "h.0.attn.qkv.bias"));
    CHECK(!holds(matrices, "h.0.ln_1.weight"));
    CHECK(!holds(matrices, "h.0.attn.qkv.bias"));
    config.model.tie_word_embeddings = false;
    const auto untied = decaying(config, DecayScope::linear, ops::adamw());
    CHECK(holds(untied, "lm_head.weight"));
    CHECK(!holds(untied, "wte.weight"));
}

TEST_CASE("B36: the scope is the same for SGD, and only momentum needs a state") {
    Config config = gpt2();
    config.train.optimizer = OptimizerKind::sgd;
    CHECK(decaying(config, DecayScope::matrices, ops::sgd()) == decaying(gpt2(), DecayScope::matrices, ops::adamw()));
    const auto states = [&] {
        const Graph graph = emit_update(emit_backward(forward(config), "loss"), config.train);
        return graph.with_role(Role::state).size();
    };
    CHECK(states() == 0);
    config.train.momentum = 0.9;
    const std::size_t parameters = decaying(config, DecayScope::all, ops::sgd()).size();
    CHECK(states() == parameters);
}

TEST_CASE("B35: a tied embedding has one gradient, one pair of moments and one place in the norm") {
    const Graph graph = emit_update(fuse_loss(emit_backward(forward(gpt2()), "loss")), gpt2().train);
    int updates = 0, sums = 0;
    for (const Node& node : graph.nodes()) {
        updates += node.op == &ops::adamw() && graph.value(node.input(0)).name == "wte.weight";
        sums += node.op == &ops::square_sum() && graph.value(graph.storage_of(node.input(0))).name == "wte.weight.grad";
    }
    CHECK(updates == 1);
    CHECK(sums == 1);
}

TEST_CASE("The members of a schedule group depend on none of each other") {
    const Graph graph = emit_update(fuse_loss(emit_backward(forward(gpt2()), "loss")), gpt2().train);
    const Schedule schedule = schedule_nodes(graph);
    std::size_t nodes = 0;
    for (const Schedule::Group& group : schedule.groups) {
        nodes += group.nodes.size();
        for (NodeId writer : group.nodes) {
            for (NodeId other : group.nodes) {
                if (writer == other) continue;
                for (ValueId output : graph.node(writer).outputs) {
                    for (ValueId input : graph.node(other).inputs) {
                        CHECK_FALSE((input && graph.storage_of(input) == graph.storage_of(output)));
                    }
                }
            }
        }
    }
    CHECK(nodes == graph.nodes().size());
}
