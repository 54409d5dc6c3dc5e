#pragma once

#include <cstdint>
#include <string_view>

#include "base/isa.hpp"
#include "exec/thread_pool.hpp"
#include "kernels/kernel_table.hpp"

namespace causeway {

/// Single kernels on anybody's pointers, without a plan: the tiles of a call are spread over the threads. As in plans,
/// results depend on the arguments and the instruction set alone. No call allocates.
class KernelCalls {
  public:
    /// `isa`: a name or "auto"; CAUSEWAY_ISA wins over it. threads: 0 for all. Throws CapacityError, ConfigError.
    KernelCalls(std::string_view isa, int threads);

    Isa isa() const { return table_.isa; }
    int threads() const { return pool_.threads(); }

    void gemm(kernels::GemmForm form, const kernels::GemmArgs<float>& args);
    /// x, y (rows, cols).
    void softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols);
    void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t cols);
    void attention_forward(const kernels::AttentionForwardArgs<float>& args);
    /// All three stages; args.workspace has attention_workspace(args.shape) elements.
    void attention_backward(const kernels::AttentionBackwardArgs<float>& args);
    std::int64_t attention_workspace(const kernels::AttentionShape& shape) const;

  private:
    template <class F>
    void run(std::int64_t tiles, double flops, F&& tile_range);

    const kernels::KernelTable<float>& table_;
    ThreadPool pool_;
};

}  // namespace causeway
