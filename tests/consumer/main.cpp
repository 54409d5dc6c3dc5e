// A program that uses Causeway through its public headers alone: compiles a config and trains it some steps, calls the
// GEMM, softmax and attention kernels on its own pointers; saves what it trained and continues sequences with it.
// usage: consumer CONFIG
// What it saves goes into folders of the working directory, which it removes.
#include <algorithm>
#include <causeway/causeway.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

int failures = 0;

void check(bool passed, const char* what) {
    std::printf("%s: %s\n", passed ? "ok" : "FAILED", what);
    failures += passed ? 0 : 1;
}

/// Whether `call` throws an E.
template <class E, class F>
bool throws(F&& call) {
    try {
        call();
    } catch (const E&) {
        return true;
    }
    return false;
}

/// Numbers that differ from place to place, in [-0.5, 0.5).
std::vector<float> numbers(std::int64_t count, std::uint32_t seed) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<float>(seed >> 8U) / 16777216.0F - 0.5F;
    }
    return values;
}

bool close(float a, double b) { return std::abs(a - b) <= 1e-5 * (1 + std::abs(b)); }

void train_some_steps(const std::string& config) {
    const causeway::Program program = causeway::compile_file(config, {"train.max_steps=120", "runtime.threads=2"});
    check(program.parameter_count() == 8384, "the program counts its parameters");
    check(program.memory().total() > 0 && program.flops_per_step() > 0, "it knows memory and work beforehand");

    causeway::Trainer trainer(program);
    const causeway::StepReport first = trainer.step();
    const causeway::StepReport last = trainer.run();
    check(first.loss > 3.9 && first.loss < 4.5, "the first loss is near log(64)");
    check(trainer.steps_done() == 120 && last.loss < first.loss / 2, "120 steps more than halve it");
    check(trainer.evaluate().loss < first.loss / 2, "so does it on rows that training never sees");
}

void save_and_reload(const std::string& config) {
    const causeway::Program program = causeway::compile_file(config, {"train.max_steps=5"});
    causeway::Trainer trainer(program), other(program);
    trainer.run();
    const std::string folder = "consumer-run";
    trainer.save(folder);
    check(other.load(folder + "/model.safetensors").empty(), "a saved model has what a trainer reads");
    std::filesystem::remove_all(folder);
    check(other.evaluate().loss == trainer.evaluate().loss, "and computes the same loss");

    double sum = 0;  // softmax minus one-hot: each row's gradient of the logits sums to 0
    for (float value : trainer.summed_gradient("lm_head.bias")) sum += value;
    check(std::abs(sum) < 1e-3, "gradients can be read");
    trainer.parameter("lm_head.bias")[3] += 20;
    trainer.parameters_changed();
    check(trainer.evaluate().loss > other.evaluate().loss + 1, "parameters can be written");
}

void interrupt_and_resume(const std::string& config) {
    const causeway::Program program = causeway::compile_file(config, {"train.max_steps=8"});
    causeway::Trainer trainer(program), other(program);
    const std::string folder = "consumer-resume";
    trainer.run([](const causeway::StepReport& report) { return report.step < 4; });
    trainer.save_checkpoint(folder);
    std::ifstream file(folder + "/checkpoints/step_00000004/state.json");
    const std::string state(std::istreambuf_iterator<char>(file), {});
    check(state.find("\"step\": 4,") != std::string::npos && state.find("\"elapsed_s\": 0.0,") == std::string::npos,
          "a checkpoint counts the time that run took");
    const causeway::Resumed resumed = other.resume(folder);
    check(resumed.step == 4 && resumed.notes.empty() && other.steps_done() == 4, "a run goes on from its checkpoint");
    check(other.run().loss == trainer.run().loss, "to the same bits");
    check(throws<causeway::ConfigError>(
              [&] { causeway::Trainer(causeway::compile_file(config, {"train.seed=7"})).resume(folder); }),
          "but not as another run");
    std::filesystem::remove_all(folder);
    check(throws<causeway::IoError>([&] { other.resume(folder); }), "nor without one");
}

void go_back(const std::string& config) {
    causeway::Trainer trainer(
        causeway::compile_file(config, {"train.on_non_finite=rollback", "train.checkpoint_every=2"}));
    const std::string folder = "consumer-rollback";
    const auto poison = [&] {
        trainer.parameter("lm_head.bias")[3] = std::numeric_limits<float>::quiet_NaN();
        trainer.parameters_changed();
    };
    trainer.step();
    trainer.save_checkpoint(folder);
    trainer.step();
    poison();
    const causeway::StepReport undone = trainer.step();
    check(!undone.updated && !undone.fault.empty() && trainer.steps_done() == 1, "a bad step goes back to the save");
    check(std::isfinite(trainer.step().loss) && trainer.steps_done() == 2, "and the run goes on from there");
    std::filesystem::remove_all(folder);
    poison();
    check(throws<causeway::NumericError>([&] { trainer.step(); }), "without a checkpoint that is an error");
}

void generate(const std::string& config) {
    causeway::Trainer trainer(causeway::compile_file(config, {"train.max_steps=20"}));
    trainer.run();
    const std::string folder = "consumer-generate";
    trainer.save(folder);
    causeway::Generator generator(folder, 2);
    std::filesystem::remove_all(folder);
    const std::vector<std::vector<std::int32_t>> prompts{{5, 17, 3}, {9}};
    causeway::GenerationSettings settings;
    settings.max_new_tokens = 30;  // beyond the context of 12
    settings.temperature = 0;
    const auto rows = generator.generate(prompts, settings);
    check(rows.size() == 2 && rows[0].size() == 30 && rows[1].size() == 30, "two prompts are continued side by side");
    check(generator.generate(prompts[0], settings) == rows[0], "as each is alone");
    const std::span<const float> logits = generator.logits(prompts[1]);
    check(std::max_element(logits.begin(), logits.end()) - logits.begin() == rows[1][0],
          "greedily, by the largest logit");
}

void reject_a_mistake(const std::string& config) {
    try {
        causeway::compile_file(config, {"train.learing_rate=1"});
        check(false, "a misspelt field is refused");
    } catch (const causeway::ConfigError& error) {
        const std::string message = error.what();
        check(message.find("train.learing_rate") != std::string::npos, "a misspelt field is refused by its path");
    }
}

void reject_bad_arguments() {
    causeway::Kernels kernels;
    std::vector<float> x(64);
    float* p = x.data();
    const auto heads = causeway::contiguous_heads(p, 1, 1, 1);
    const auto read = causeway::contiguous_heads<const float>(p, 1, 1, 1);
    check(throws<causeway::GraphError>([&] { kernels.gemm_nt(2, 2, 4, p, 3, p, 4, p, 2); }), "rows that overlap");
    check(throws<causeway::GraphError>([&] { kernels.softmax(p, p, -1, 4); }), "a negative size");
    check(throws<causeway::GraphError>([&] {
              kernels.attention_forward({.queries = 1, .keys = 1, .head_dim = 257}, read, read, read, heads, nullptr);
          }),
          "heads that are too wide");
    check(throws<causeway::ConfigError>([] { causeway::Kernels("mmx"); }), "an unknown instruction set");
}

std::vector<float> transposed(const std::vector<float>& x, std::int64_t rows, std::int64_t cols) {
    std::vector<float> y(x.size());
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) y[j * rows + i] = x[i * cols + j];
    }
    return y;
}

void multiply(causeway::Kernels& kernels) {
    const std::int64_t m = 7, n = 33, k = 19;
    const std::vector<float> a = numbers(m * k, 1), b = numbers(n * k, 2), bias = numbers(n, 3);
    const std::vector<float> a_t = transposed(a, m, k), b_t = transposed(b, n, k);
    std::vector<float> nt(static_cast<std::size_t>(m * n)), nn(nt.size()), tn(nt.size(), 1);  // (M,N)
    kernels.gemm_nt(m, n, k, a.data(), k, b.data(), k, nt.data(), n, {.bias = bias.data()});
    kernels.gemm_nn(m, n, k, a.data(), k, b_t.data(), n, nn.data(), n);
    kernels.gemm_tn(m, n, k, a_t.data(), m, b_t.data(), n, tn.data(), n, {.accumulate = true});
    bool nt_right = true, nn_right = true, tn_right = true;
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t x = 0; x < k; ++x) sum += double{a[i * k + x]} * b[j * k + x];
            nt_right = nt_right && close(nt[i * n + j], sum + bias[j]);
            nn_right = nn_right && close(nn[i * n + j], sum);
            tn_right = tn_right && close(tn[i * n + j], sum + 1);
        }
    }
    check(nt_right, "gemm_nt with a bias");
    check(nn_right, "gemm_nn");
    check(tn_right, "gemm_tn added to what was there");
}

void normalise(causeway::Kernels& kernels) {
    const std::int64_t rows = 3, cols = 17;
    const std::vector<float> x = numbers(rows * cols, 4);
    std::vector<float> y(x.size());
    kernels.softmax(x.data(), y.data(), rows, cols);
    bool right = true;
    for (std::int64_t i = 0; i < rows; ++i) {
        double total = 0;
        for (std::int64_t j = 0; j < cols; ++j) total += std::exp(double{x[i * cols + j]});
        for (std::int64_t j = 0; j < cols; ++j) {
            right = right && close(y[i * cols + j], std::exp(double{x[i * cols + j]}) / total);
        }
    }
    check(right, "softmax");
}

/// softmax(q k^T / sqrt(Dh)) v for one query row that sees the first `seen` of the (T,Dh) keys and values.
std::vector<double> attend(const float* q, const float* k, const float* v, std::int64_t seen, std::int64_t head_dim) {
    std::vector<double> out(static_cast<std::size_t>(head_dim));
    double total = 0;
    for (std::int64_t t = 0; t < seen; ++t) {
        double score = 0;
        for (std::int64_t d = 0; d < head_dim; ++d) score += double{q[d]} * k[t * head_dim + d];
        const double weight = std::exp(score / std::sqrt(static_cast<double>(head_dim)));
        total += weight;
        for (std::int64_t d = 0; d < head_dim; ++d) out[d] += weight * v[t * head_dim + d];
    }
    for (double& value : out) value /= total;
    return out;
}

void attention(causeway::Kernels& kernels) {
    const std::int64_t tokens = 21, head_dim = 24;  // one batch entry, one head
    const std::vector<float> q = numbers(tokens * head_dim, 5), k = numbers(tokens * head_dim, 6);
    const std::vector<float> v = numbers(tokens * head_dim, 7);
    std::vector<float> out(q.size());
    const causeway::AttentionProblem problem{.queries = tokens, .keys = tokens, .head_dim = head_dim};
    kernels.attention_forward(problem, causeway::contiguous_heads(q.data(), tokens, 1, head_dim),
                              causeway::contiguous_heads(k.data(), tokens, 1, head_dim),
                              causeway::contiguous_heads(v.data(), tokens, 1, head_dim),
                              causeway::contiguous_heads(out.data(), tokens, 1, head_dim), nullptr);
    bool right = true;
    for (std::int64_t t = 0; t < tokens; ++t) {
        const std::vector<double> expected = attend(&q[t * head_dim], k.data(), v.data(), t + 1, head_dim);
        for (std::int64_t d = 0; d < head_dim; ++d) right = right && close(out[t * head_dim + d], expected[d]);
    }
    check(right, "causal attention");
}

/// The gradient of sum(out * dout) with respect to a fused (B,T,3D) buffer, against central differences.
void attention_gradient(causeway::Kernels& kernels) {
    const std::int64_t batch = 2, tokens = 11, heads = 3, head_dim = 5, width = heads * head_dim;
    const causeway::AttentionProblem problem{
        .batch = batch, .heads = heads, .queries = tokens, .keys = tokens, .head_dim = head_dim};
    std::vector<float> qkv = numbers(batch * tokens * 3 * width, 8), dqkv(qkv.size());
    const std::vector<float> dout = numbers(batch * tokens * width, 9);
    std::vector<float> out(dout.size()), lse(static_cast<std::size_t>(batch * heads * tokens));
    std::vector<float> workspace(static_cast<std::size_t>(kernels.attention_workspace(problem)));
    const auto part = [&](auto* fused, std::int64_t which) {
        return causeway::HeadsPointer{fused + which * width, tokens * 3 * width, 3 * width, head_dim};
    };
    const auto whole = [&](auto* data) { return causeway::contiguous_heads(data, tokens, heads, head_dim); };
    const float *in = qkv.data(), *result = out.data();
    const auto forward = [&] {
        kernels.attention_forward(problem, part(in, 0), part(in, 1), part(in, 2), whole(out.data()), lse.data());
    };
    const auto objective = [&](std::size_t i, float moved) {
        const float kept = qkv[i];
        qkv[i] += moved;
        forward();
        qkv[i] = kept;
        double sum = 0;
        for (std::size_t j = 0; j < out.size(); ++j) sum += double{out[j]} * dout[j];
        return sum;
    };
    forward();
    kernels.attention_backward(problem, part(in, 0), part(in, 1), part(in, 2), whole(result), lse.data(),
                               whole(dout.data()), part(dqkv.data(), 0), part(dqkv.data(), 1), part(dqkv.data(), 2),
                               workspace.data());
    bool right = true;
    for (std::size_t i = 0; i < qkv.size(); i += 17) {
        const float step = 1.0F / 64;
        const double difference = (objective(i, step) - objective(i, -step)) / (2 * step);
        right = right && std::abs(dqkv[i] - difference) <= 1e-3;
    }
    check(right, "the gradient of causal attention");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: consumer CONFIG\n");
        return 2;
    }
    try {
        check(causeway::version() == CAUSEWAY_VERSION, "headers and library are of one version");
        train_some_steps(argv[1]);
        save_and_reload(argv[1]);
        interrupt_and_resume(argv[1]);
        go_back(argv[1]);
        generate(argv[1]);
        reject_a_mistake(argv[1]);
        reject_bad_arguments();
        for (const std::string& isa : causeway::isa_names()) {
            std::printf("%s kernels\n", isa.c_str());
            causeway::Kernels kernels(isa);
            multiply(kernels);
            normalise(kernels);
            attention(kernels);
            attention_gradient(kernels);
        }
    } catch (const std::exception& error) {
        std::printf("FAILED: %s\n", error.what());
        ++failures;
    }
    return failures == 0 ? 0 : 1;
}
