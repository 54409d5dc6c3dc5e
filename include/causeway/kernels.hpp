#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// Instruction sets this CPU and this build have, weakest first: "reference" (plain loops), then "sse2", "avx2",
/// "avx512" or "neon".
std::vector<std::string> isa_names();

/// Optional parts of a GEMM; C = op(A) op(B) + bias, or C += that.
struct GemmOptions {
    const float* bias = nullptr;  ///< (N), added to every row
    bool accumulate = false;      ///< add to what C holds
};

/// A (B,T,H,Dh) tensor inside a larger buffer: element (b,t,h,d) is at
/// data[b * batch_stride + t * token_stride + h * head_stride + d]. Strides are in elements.
template <class T>
struct HeadsPointer {
    T* data = nullptr;
    std::int64_t batch_stride = 0;
    std::int64_t token_stride = 0;
    std::int64_t head_stride = 0;
};

/// A contiguous (B,T,H,Dh) tensor.
template <class T>
HeadsPointer<T> contiguous_heads(T* data, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim) {
    return {data, tokens * heads * head_dim, heads * head_dim, head_dim};
}

/// Sizes of an attention problem: queries (B,Tq,H,Dh), keys and values (B,Tk,Hkv,Dh).
struct AttentionProblem {
    std::int64_t batch = 1;
    std::int64_t heads = 1;
    std::int64_t kv_heads = 0;  ///< 0: as many as heads; otherwise heads / kv_heads query heads share a key head
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t head_dim = 0;  ///< 1 to 256
    double scale = 0;           ///< of Q K^T; 0: 1 / sqrt(head_dim)
    bool causal = true;         ///< query i sees keys up to i + keys - queries
};

/// The kernels of one instruction set, called on your own pointers. A call spreads its work over the threads when there
/// is enough of it; its result depends on the arguments and the instruction set alone, never on the number of threads.
/// Calls do not allocate; one at a time may run on an object. Arguments that make no sense (negative sizes, rows that
/// overlap, head_dim outside its range) throw GraphError; null or short buffers cannot be noticed.
///
///     causeway::Kernels kernels("auto", 2);
///     kernels.gemm_nt(m, n, k, x, k, w, k, y, n, {.bias = b});  // y = x w^T + b, as a linear layer
class Kernels {
  public:
    /// isa: one of isa_names(), or "auto" for the best; the environment variable CAUSEWAY_ISA wins over it. threads: 0
    /// for as many as the process may use. Throws ConfigError for an unknown name, CapacityError for an instruction set
    /// the CPU lacks.
    explicit Kernels(std::string_view isa = "auto", int threads = 1);
    ~Kernels();
    Kernels(Kernels&& other) noexcept;
    Kernels& operator=(Kernels&& other) noexcept;

    std::string_view isa() const;
    int threads() const;

    /// C (M,N) = A (M,K) B (N,K)^T. ld* are elements from one row to the next. C must not overlap A or B. 2 M N K
    /// operations.
    void gemm_nt(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                 std::int64_t ldb, float* c, std::int64_t ldc, const GemmOptions& options = {});
    /// C (M,N) = A (M,K) B (K,N).
    void gemm_nn(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                 std::int64_t ldb, float* c, std::int64_t ldc, const GemmOptions& options = {});
    /// C (M,N) = A (K,M)^T B (K,N).
    void gemm_tn(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda, const float* b,
                 std::int64_t ldb, float* c, std::int64_t ldc, const GemmOptions& options = {});

    /// y = exp(x - max x) / sum exp(x - max x) for each row of x (rows, cols), contiguous; y may be x. A row of -inf
    /// gives zeros.
    void softmax(const float* x, float* y, std::int64_t rows, std::int64_t cols);
    /// dx = y (dy - sum(y dy)) row by row; dx may be dy.
    void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t cols);

    /// out (B,Tq,H,Dh) = softmax(scale Q K^T) V without a (Tq,Tk) matrix: online softmax (Milakov, Gimelshein 2018; Dao
    /// et al. 2022). lse (B,H,Tq) receives the log of each row's sum of exponentials, which backward needs; may be
    /// null. A query that sees no key gets 0. Time O(B H Tq Tk Dh), memory O(1) beyond the output.
    void attention_forward(const AttentionProblem& problem, HeadsPointer<const float> q, HeadsPointer<const float> k,
                           HeadsPointer<const float> v, HeadsPointer<float> out, float* lse);

    /// Floats that attention_backward needs as workspace.
    std::int64_t attention_workspace(const AttentionProblem& problem) const;

    /// dq, dk, dv (overwritten) from dout, with `out` and `lse` as forward left them (Dao et al. 2022, appendix B.4).
    /// Time 2.5 times forward's.
    void attention_backward(const AttentionProblem& problem, HeadsPointer<const float> q, HeadsPointer<const float> k,
                            HeadsPointer<const float> v, HeadsPointer<const float> out, const float* lse,
                            HeadsPointer<const float> dout, HeadsPointer<float> dq, HeadsPointer<float> dk,
                            HeadsPointer<float> dv, float* workspace);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace causeway
