#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace causeway {

/// A learned tensor: its name in model.safetensors and its extents, outermost first. Linear weights are (out, in).
struct ParameterInfo {
    std::string name;
    std::vector<std::int64_t> shape;
};

/// Bytes that a training step takes, known before anything is reserved.
struct MemoryNeeds {
    std::int64_t parameters = 0;             ///< weights, constant tables, packed copies
    std::int64_t state = 0;                  ///< gradients and optimizer moments
    std::int64_t scratch = 0;                ///< activations and workspaces, which share memory as they die
    std::int64_t scratch_without_reuse = 0;  ///< what they would take if they did not share
    std::int64_t total() const { return parameters + state + scratch; }
};

/// A config compiled to the fixed list of steps that one training step runs. Cheap to copy, never changes.
///
///     causeway::Program program = causeway::compile_file("configs/kjv_bytes.json", {"train.batch_size=4"});
///     std::cout << program.parameter_count() << " parameters, " << program.memory().total() << " bytes\n";
class Program {
  public:
    std::int64_t parameter_count() const;  ///< learned numbers, a tied tensor once
    std::vector<ParameterInfo> parameters() const;
    MemoryNeeds memory() const;
    double flops_per_step() const;  ///< forward and backward of all micro-batches of an optimizer step
    std::string isa() const;        ///< the instruction set its kernels were chosen for, "avx512" for instance
    std::string config() const;     ///< the resolved config, as JSON
    std::string text() const;       ///< every step with its shapes, memory, work and predicted time, as a table

  private:
    struct Impl;
    explicit Program(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;

    friend Program compile(const std::string& json, const std::vector<std::string>& overrides);
    friend Program compile_file(const std::string& path, const std::vector<std::string>& overrides);
    friend class Trainer;
};

/// Compiles the training plan of a config given as JSON text. Each override is "section.field=value", as the command
/// line's --set takes it. Throws ConfigError (with the path of the field, what was found and what is allowed) or
/// CapacityError (an instruction set this CPU lacks). Takes about a millisecond a layer; no memory for the model is
/// reserved and no data is opened yet.
///
///     causeway::compile(R"({"model": {"hidden_size": 64}, "data": {"source": "repeat"}})", {"runtime.threads=2"});
Program compile(const std::string& json, const std::vector<std::string>& overrides = {});

/// The same for a file. Throws IoError when it cannot be read.
Program compile_file(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace causeway
