#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/isa.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"
#include "support/golden_ops.hpp"

// PyTorch's numbers for its optimizers (tests/golden/README.md) against the kernels of every ISA.

using namespace causeway;
using namespace causeway::kernels;

namespace {

template <class T>
void check_close(const std::vector<T>& found, const nlohmann::json& expected, double tolerance) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto value = expected[i].get<double>();
        CHECK(std::abs(static_cast<double>(found[i]) - value) <= tolerance * (0.02 + std::abs(value)));
    }
}

template <class T>
void check_adamw(const KernelTable<T>& table, const nlohmann::json& golden, double tolerance) {
    auto w = golden.at("w").get<std::vector<T>>();
    std::vector<T> m(w.size()), v(w.size());
    double step = 0;
    for (const nlohmann::json& after : golden.at("steps")) {
        const auto gradient = after.at("gradient").get<std::vector<T>>();
        AdamWArgs<T> args{w.data(), gradient.data(), m.data(), v.data()};
        args.learning_rate = golden.at("learning_rate");
        args.beta1 = golden.at("beta1");
        args.beta2 = golden.at("beta2");
        args.eps = golden.at("epsilon");
        args.weight_decay = golden.at("weight_decay");
        step += 1;
        args.bias1 = 1 - std::pow(args.beta1, step);
        args.bias2 = 1 - std::pow(args.beta2, step);
        table.optimizer.adamw(args, 0, static_cast<std::int64_t>(w.size()));
        check_close(w, after.at("w"), tolerance);
        check_close(m, after.at("m"), tolerance);
        check_close(v, after.at("v"), tolerance);
    }
}

template <class T>
void check_sgd(const KernelTable<T>& table, const nlohmann::json& golden, double tolerance) {
    auto w = golden.at("w").get<std::vector<T>>();
    const auto momentum = golden.at("momentum").get<double>();
    std::vector<T> m(momentum > 0 ? w.size() : 0);
    for (const nlohmann::json& after : golden.at("steps")) {
        const auto gradient = after.at("gradient").get<std::vector<T>>();
        SgdArgs<T> args{w.data(), gradient.data(), momentum > 0 ? m.data() : nullptr};
        args.learning_rate = golden.at("learning_rate");
        args.momentum = momentum;
        args.weight_decay = golden.at("weight_decay");
        table.optimizer.sgd(args, 0, static_cast<std::int64_t>(w.size()));
        check_close(w, after.at("w"), tolerance);
        check_close(m, after.at("m"), tolerance);
    }
}

/// check(table, golden, tolerance) for each case, with the plain loops in double and the kernels of every ISA.
template <class Check>
void for_each_case(const std::string& name, Check check) {
    const nlohmann::json cases = golden_cases(name);
    REQUIRE(!cases.empty());
    for (const nlohmann::json& golden : cases) {
        INFO(name << ": " << golden.at("name").get<std::string>());
        check(reference_table<double>(), golden, 1e-11);
        for (const Isa isa : available_isas()) {
            INFO("ISA " << to_string(isa));
            check(kernel_table(isa), golden, 3e-6);
        }
    }
}

}  // namespace

TEST_CASE("B36, B37: AdamW gives PyTorch's parameters and moments") {
    for_each_case("adamw", [](const auto& table, const nlohmann::json& golden, double tolerance) {
        check_adamw(table, golden, tolerance);
    });
}

TEST_CASE("SGD gives PyTorch's parameters and momentum buffers") {
    for_each_case("sgd", [](const auto& table, const nlohmann::json& golden, double tolerance) {
        check_sgd(table, golden, tolerance);
    });
}
