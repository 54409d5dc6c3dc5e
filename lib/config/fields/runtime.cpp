#include "base/isa.hpp"
#include "config/fields/fields.hpp"

namespace causeway::config {
namespace {

std::vector<std::string> isa_names() {
    std::vector<std::string> names{"auto"};
    for (Isa isa : all_isas) names.emplace_back(to_string(isa));
    return names;
}

}  // namespace

Section runtime_section() {
    SectionBuilder<RuntimeConfig> runtime("runtime", &Config::runtime, "How it is executed.");
    using R = RuntimeConfig;
    runtime.add("threads", &R::threads, integer(0, 1024),
                "Threads; 0 means as many as the process may use. Results do not depend on it.",
                {"num_threads", "n_threads", "nthreads"});
    runtime.add("isa", &R::isa, one_of(isa_names()),
                "Instruction set of the kernels; auto is the best one the CPU has, reference the plain loops. The "
                "environment variable CAUSEWAY_ISA wins over it.");
    runtime.add("attention", &R::attention, choice<AttentionPath>({"tiled", "explicit"}),
                "tiled never stores the attention weights, explicit materialises them.", {"attn_implementation"});
    runtime.add("memory_reuse", &R::memory_reuse, flag(),
                "false gives each value a buffer of its own, poisoned after its last use: for debugging.");
    runtime.add("memory_limit_mb", &R::memory_limit_mb, integer(0, std::int64_t{1} << 40),
                "A plan that needs more MiB is refused; 0 means what the machine and the cgroup leave.");
    runtime.add("fuse_loss", &R::fuse_loss, flag(),
                "Take the loss from the step that computes its gradients. Fusions: see below.");
    runtime.add("fuse_epilogue", &R::fuse_epilogue, flag(),
                "Activations and residual sums in the matrix product before them.");
    runtime.add("fuse_norm_residual", &R::fuse_norm_residual, flag(),
                "The sum of a residual stream's gradients in the norm's backward.");
    runtime.add("fuse_gradient_norm", &R::fuse_gradient_norm, flag(),
                "Squares of the gradients, for their norm, in the matrix products that make them.");
    return runtime.take();
}

}  // namespace causeway::config
