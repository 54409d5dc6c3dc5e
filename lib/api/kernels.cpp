#include "causeway/kernels.hpp"

#include <cmath>

#include "base/format.hpp"
#include "base/limits.hpp"
#include "causeway/error.hpp"
#include "exec/kernel_calls.hpp"

namespace causeway {
namespace {

void require(bool condition, const std::string& message) {
    if (!condition) throw GraphError(message);
}

void require_ld(const char* name, std::int64_t ld, std::int64_t columns) {
    require(ld >= columns, fmt::format("gemm: {} is {}, expected at least the {} columns of a row", name, ld, columns));
}

/// Rows of A and B are k, m or n long, by the form.
kernels::GemmArgs<float> gemm_args(kernels::GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k,
                                   const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                                   std::int64_t ldc, const GemmOptions& options) {
    require(m >= 0 && n >= 0 && k >= 0, fmt::format("gemm: m, n, k are {}, {}, {}, expected none below 0", m, n, k));
    require_ld("lda", lda, form == kernels::GemmForm::tn ? m : k);
    require_ld("ldb", ldb, form == kernels::GemmForm::nt ? k : n);
    require_ld("ldc", ldc, n);
    kernels::GemmArgs<float> args{m, n, k, a, lda, b, ldb, nullptr, c, ldc, options.accumulate};
    args.epilogue.bias = options.bias;
    return args;
}

kernels::AttentionShape shape_of(const AttentionProblem& problem) {
    const std::int64_t kv_heads = problem.kv_heads == 0 ? problem.heads : problem.kv_heads;
    require(problem.batch >= 0 && problem.queries >= 0 && problem.keys >= 0,
            fmt::format("attention: batch, queries, keys are {}, {}, {}, expected none below 0", problem.batch,
                        problem.queries, problem.keys));
    require(problem.heads >= 1 && kv_heads >= 1 && problem.heads % kv_heads == 0,
            fmt::format("attention: kv_heads is {}, expected a divisor of heads ({})", kv_heads, problem.heads));
    require(problem.head_dim >= 1 && problem.head_dim <= max_tiled_head_dim,
            fmt::format("attention: head_dim is {}, expected 1 to {}", problem.head_dim, max_tiled_head_dim));
    const double scale = problem.scale != 0 ? problem.scale : 1 / std::sqrt(static_cast<double>(problem.head_dim));
    return {problem.batch, problem.heads,    kv_heads, problem.queries,
            problem.keys,  problem.head_dim, scale,    problem.causal};
}

template <class T>
kernels::HeadsView<T> view(HeadsPointer<T> heads) {
    return {heads.data, heads.batch_stride, heads.token_stride, heads.head_stride};
}

}  // namespace

std::vector<std::string> isa_names() {
    std::vector<std::string> names;
    for (Isa isa : available_isas()) names.emplace_back(to_string(isa));
    return names;
}

struct Kernels::Impl {
    Impl(std::string_view isa, int threads) : calls(isa, threads) {}
    KernelCalls calls;
};

Kernels::Kernels(std::string_view isa, int threads) : impl_(std::make_unique<Impl>(isa, threads)) {}
Kernels::~Kernels() = default;
Kernels::Kernels(Kernels&& other) noexcept = default;
Kernels& Kernels::operator=(Kernels&& other) noexcept = default;

std::string_view Kernels::isa() const { return to_string(impl_->calls.isa()); }
int Kernels::threads() const { return impl_->calls.threads(); }

void Kernels::gemm_nt(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float* c, std::int64_t ldc, const GemmOptions& options) {
    constexpr auto form = kernels::GemmForm::nt;
    impl_->calls.gemm(form, gemm_args(form, m, n, k, a, lda, b, ldb, c, ldc, options));
}

void Kernels::gemm_nn(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float* c, std::int64_t ldc, const GemmOptions& options) {
    constexpr auto form = kernels::GemmForm::nn;
    impl_->calls.gemm(form, gemm_args(form, m, n, k, a, lda, b, ldb, c, ldc, options));
}

void Kernels::gemm_tn(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float* c, std::int64_t ldc, const GemmOptions& options) {
    constexpr auto form = kernels::GemmForm::tn;
    impl_->calls.gemm(form, gemm_args(form, m, n, k, a, lda, b, ldb, c, ldc, options));
}

void Kernels::softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    require(rows >= 0 && cols >= 0, fmt::format("softmax: rows, cols are {}, {}, expected none below 0", rows, cols));
    impl_->calls.softmax(x, y, rows, cols);
}

void Kernels::softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t cols) {
    require(rows >= 0 && cols >= 0, fmt::format("softmax: rows, cols are {}, {}, expected none below 0", rows, cols));
    impl_->calls.softmax_backward(y, dy, dx, rows, cols);
}

void Kernels::attention_forward(const AttentionProblem& problem, HeadsPointer<const float> q,
                                HeadsPointer<const float> k, HeadsPointer<const float> v, HeadsPointer<float> out,
                                float* lse) {
    impl_->calls.attention_forward({shape_of(problem), view(q), view(k), view(v), view(out), lse});
}

std::int64_t Kernels::attention_workspace(const AttentionProblem& problem) const {
    return impl_->calls.attention_workspace(shape_of(problem));
}

void Kernels::attention_backward(const AttentionProblem& problem, HeadsPointer<const float> q,
                                 HeadsPointer<const float> k, HeadsPointer<const float> v,
                                 HeadsPointer<const float> out, const float* lse, HeadsPointer<const float> dout,
                                 HeadsPointer<float> dq, HeadsPointer<float> dk, HeadsPointer<float> dv,
                                 float* workspace) {
    impl_->calls.attention_backward({shape_of(problem), view(q), view(k), view(v), view(out), view(dout), lse, view(dq),
                                     view(dk), view(dv), workspace});
}

}  // namespace causeway
