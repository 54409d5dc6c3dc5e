#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/isa.hpp"
#include "config/config.hpp"

namespace causeway {

struct KernelCheckOptions {
    std::int64_t batch = 2;
    std::int64_t sequence_length = 0;  ///< 0: min(33, model.max_position_embeddings)
    std::uint64_t seed = 1;
    double tolerance = 2e-5;  ///< some hundred roundings of a float: what sums of some hundred products leave
};

/// The worst disagreement of one operation of one instruction set with its plain-loop twin in double.
struct OpCheck {
    std::string op;
    std::int64_t nodes = 0;  ///< compared
    double tolerances = 0;   ///< largest error in units of the tolerance; passes up to 1
    std::string worst;       ///< plan, value and element where that was
    bool passed() const { return tolerances <= 1; }
};

struct KernelCheck {
    Isa isa = Isa::reference;
    std::vector<OpCheck> ops;  ///< in order of first use
    bool passed() const;
};

/// Runs every plan of a config (training with and without fusion, both attention paths, evaluation, logits, prefill) on
/// one instruction set in lockstep with the same plan in double on plain loops: each node gets exactly the reference's
/// inputs, so an error belongs to the node where it shows. |error| <= tolerance (|reference| + rms of the tensor)
/// passes. Models of more than 2 layers or 4099 tokens of vocabulary are cut to that. Throws CapacityError when the CPU
/// lacks the instruction set.
KernelCheck check_kernels(const Config& config, Isa isa, const KernelCheckOptions& options = {});

/// The same for several instruction sets, which share one run of the reference.
std::vector<KernelCheck> check_kernels(const Config& config, const std::vector<Isa>& isas,
                                       const KernelCheckOptions& options = {});

/// A table of all checks, a line an op, a column an instruction set.
std::string kernel_check_text(const std::vector<KernelCheck>& checks);

}  // namespace causeway
