#include "exec/kernel_calls.hpp"

#include "kernels/attention/attention_flops.hpp"
#include "plan/cut.hpp"

namespace causeway {
namespace {

/// Below this much work, some 20 us on one core, waking other threads costs more than they save.
constexpr double parallel_flops = 1e6;

}  // namespace

KernelCalls::KernelCalls(std::string_view isa, int threads)
    : table_(kernels::kernel_table(choose_isa(isa))), pool_(threads) {}

template <class F>
void KernelCalls::run(std::int64_t tiles, double flops, F&& tile_range) {
    if (tiles == 0) return;
    pool_.run([&] { pool_.parallel(tiles, TileWork(tile_range)); }, flops >= parallel_flops && tiles > 1);
}

void KernelCalls::gemm(kernels::GemmForm form, const kernels::GemmArgs<float>& args) {
    const auto kernel = form == kernels::GemmForm::nt   ? table_.gemm.nt
                        : form == kernels::GemmForm::nn ? table_.gemm.nn
                                                        : table_.gemm.tn;
    auto tiles = [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); };
    run(table_.gemm.tiling(form, args.m, args.n, args.k).tiles(),
        2.0 * static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k), tiles);
}

void KernelCalls::softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    const Cut cut = cut_rows(rows, cols);
    auto tiles = [&](std::int64_t begin, std::int64_t end) {
        table_.softmax.forward(x, y, cols, cut.begin(begin), cut.begin(end));
    };
    run(cut.tiles(), 20.0 * static_cast<double>(rows) * static_cast<double>(cols), tiles);
}

void KernelCalls::softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t cols) {
    const Cut cut = cut_rows(rows, cols);
    auto tiles = [&](std::int64_t begin, std::int64_t end) {
        table_.softmax.backward(y, dy, dx, cols, cut.begin(begin), cut.begin(end));
    };
    run(cut.tiles(), 4.0 * static_cast<double>(rows) * static_cast<double>(cols), tiles);
}

void KernelCalls::attention_forward(const kernels::AttentionForwardArgs<float>& args) {
    auto tiles = [&](std::int64_t begin, std::int64_t end) { table_.attention.forward(args, begin, end); };
    run(table_.attention.forward_tiles(args.shape), 2 * attention_product_flops(args.shape), tiles);
}

void KernelCalls::attention_backward(const kernels::AttentionBackwardArgs<float>& args) {
    const kernels::AttentionKernels<float>& kernel = table_.attention;
    const double flops = 5 * attention_product_flops(args.shape);
    auto delta = [&](std::int64_t begin, std::int64_t end) { kernel.backward_delta(args, begin, end); };
    auto products = [&](std::int64_t begin, std::int64_t end) { kernel.backward(args, begin, end); };
    auto reduce = [&](std::int64_t begin, std::int64_t end) { kernel.backward_reduce(args, begin, end); };
    pool_.run(
        [&] {
            pool_.parallel(kernel.backward_delta_tiles(args.shape), TileWork(delta));
            pool_.parallel(kernel.backward_tiles(args.shape), TileWork(products));
            pool_.parallel(kernel.backward_reduce_tiles(args.shape), TileWork(reduce));
        },
        flops >= parallel_flops);
}

std::int64_t KernelCalls::attention_workspace(const kernels::AttentionShape& shape) const {
    return table_.attention.backward_workspace(shape);
}

}  // namespace causeway
