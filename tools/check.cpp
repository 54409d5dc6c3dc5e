#include <algorithm>
#include <memory>

#include "base/isa.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "inspect/gradient_check.hpp"
#include "inspect/gradient_norms.hpp"
#include "inspect/kernel_check.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Gradients: the plan runs in double on plain-loop kernels; every scalar of models up to 20,000 parameters is\n"
    "compared with a central difference, above that 64 samples and a random direction a tensor.\n"
    "Kernels: every operation of each instruction set of this CPU against its plain-loop twin in double.\n"
    "Norms: how large the gradient of each layer is at the start, with the norms before and after the sub-blocks.\n"
    "No data file is read. Exit code 1 when a check fails.\n"
    "\n"
    "Examples:\n"
    "  causeway check configs/repeat_h4.json\n"
    "  causeway check configs/kjv_bytes.json --kernels\n"
    "  causeway check configs/kjv_bytes.json --gradients --set model.hidden_size=32\n"
    "  causeway check configs/repeat_post_ln.json --norms";

struct Arguments {
    std::string config;
    std::vector<std::string> overrides;
    bool gradients = false, kernels = false, norms = false;
};

bool gradients_pass(const Config& config) {
    const GradientCheck check = check_gradients(config);
    print(gradient_check_text(check));
    return check.passed();
}

bool kernels_pass(const Config& config) {
    const std::vector<KernelCheck> checks = check_kernels(config, available_isas());
    print(kernel_check_text(checks));
    return std::ranges::all_of(checks, &KernelCheck::passed);
}

int run_check(const Arguments& arguments) {
    const Config config = load_config(arguments.config, arguments.overrides);
    const bool all = arguments.gradients == arguments.kernels && arguments.kernels == arguments.norms;
    bool passed = true, first = true;
    const auto part = [&](bool asked, auto&& check) {
        if (!all && !asked) return;
        if (!first) print("\n");
        first = false;
        passed = check(config) && passed;
    };
    part(arguments.gradients, gradients_pass);
    part(arguments.kernels, kernels_pass);
    part(arguments.norms, [](const Config& of) {
        print(gradient_norms_text(of));
        return true;
    });
    if (!passed) complain("causeway check", "a check failed, see the lines marked FAIL");
    return passed ? exit_success : exit_failure;
}

}  // namespace

Command add_check(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("check", "Check gradients against differences, kernels against plain loops");
    auto arguments = std::make_shared<Arguments>();
    add_config(sub, arguments->config);
    sub->add_flag("--gradients", arguments->gradients, "Only the gradients");
    sub->add_flag("--kernels", arguments->kernels, "Only the kernels");
    sub->add_flag("--norms", arguments->norms, "Only the gradient norms by layer");
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] { return run_check(*arguments); }};
}

}  // namespace causeway::cli
