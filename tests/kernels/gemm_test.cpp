#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/isa.hpp"
#include "base/philox.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

enum class Residual { none, apart, in_place };

struct Problem {
    GemmForm form = GemmForm::nt;
    std::int64_t m = 0, n = 0, k = 0;
    bool packed = false;
    bool accumulate = false;
    bool bias = false;
    Activation activation = Activation::none;
    bool pre_activation = false;
    Residual residual = Residual::none;
    bool a_sums = false;

    std::string name() const {
        const char* forms[] = {"nt", "nn", "tn"};
        return std::string(forms[static_cast<int>(form)]) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" +
               std::to_string(k) + (packed ? " packed" : "") + (accumulate ? " accumulate" : "") +
               (bias ? " bias" : "") + " activation " + std::to_string(static_cast<int>(activation)) +
               (pre_activation ? " pre_activation" : "") + " residual " + std::to_string(static_cast<int>(residual)) +
               (a_sums ? " a_sums" : "");
    }
};

/// A matrix whose rows are wider than it is, between them NaN, which would show in any result that used it. It starts
/// off any vector's alignment and ends with its last element, so that a sanitizer sees every read beyond.
template <class T>
struct Matrix {
    Matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed, std::int64_t gap = 3)
        : ld(cols + gap), used(rows * cols > 0 ? (rows - 1) * ld + cols : 0) {
        storage.assign(static_cast<std::size_t>(used + 1), std::numeric_limits<T>::quiet_NaN());
        RandomStream stream(seed, 7);
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < cols; ++c) {
                // In float first, so that float and double problems are the same one.
                data()[r * ld + c] = static_cast<T>(static_cast<float>(2 * stream.next_uniform() - 1));
            }
        }
    }
    T* data() { return storage.data() + 1; }

    std::int64_t ld, used;
    std::vector<T> storage;
};

template <class T>
struct Result {
    Matrix<T> c;
    Matrix<T> pre_activation;
    std::vector<T> a_sums;
    std::vector<double> square_sums;  ///< by tile, tn
};

template <class T>
using Order = void (*)(void (*kernel)(const GemmArgs<T>&, std::int64_t, std::int64_t), const GemmArgs<T>&,
                       std::int64_t tiles);

template <class T>
void all_at_once(void (*kernel)(const GemmArgs<T>&, std::int64_t, std::int64_t), const GemmArgs<T>& args,
                 std::int64_t tiles) {
    kernel(args, 0, tiles);
}

template <class T>
void backwards_one_by_one(void (*kernel)(const GemmArgs<T>&, std::int64_t, std::int64_t), const GemmArgs<T>& args,
                          std::int64_t tiles) {
    for (std::int64_t tile = tiles; tile-- > 0;) kernel(args, tile, tile + 1);
}

template <class T>
Result<T> solve(const GemmKernels<T>& gemm, const Problem& p, Order<T> order = all_at_once<T>) {
    const bool tn = p.form == GemmForm::tn;
    Matrix<T> a(tn ? p.k : p.m, tn ? p.m : p.k, 1);
    Matrix<T> b(p.form == GemmForm::nt ? p.n : p.k, p.form == GemmForm::nt ? p.k : p.n, 2);
    Matrix<T> bias(1, p.n, 3);
    Matrix<T> residual(p.m, p.n, 4);
    Result<T> result{{p.m, p.n, 5},
                     {p.m, p.n, 6},
                     std::vector<T>(static_cast<std::size_t>(p.m), T(0.25)),
                     std::vector<double>(static_cast<std::size_t>(gemm.tiling(p.form, p.m, p.n, p.k).tiles()), -1)};

    GemmArgs<T> args;
    args.m = p.m;
    args.n = p.n;
    args.k = p.k;
    args.a = a.data();
    args.lda = a.ld;
    args.b = b.data();
    args.ldb = b.ld;
    args.c = result.c.data();
    args.ldc = result.c.ld;
    args.accumulate = p.accumulate;
    args.epilogue.activation = p.activation;
    if (p.bias) args.epilogue.bias = bias.data();
    if (p.pre_activation) args.epilogue.pre_activation = result.pre_activation.data();
    if (p.residual == Residual::apart) args.epilogue.residual = residual.data();
    if (p.residual == Residual::in_place) args.epilogue.residual = args.c;
    if (p.a_sums) args.epilogue.a_sums = result.a_sums.data();
    if (tn) args.epilogue.square_sums = result.square_sums.data();

    std::vector<T> packed(static_cast<std::size_t>(gemm.packed_elements(p.n, p.k)));
    if (p.packed) {
        const auto pack = p.form == GemmForm::nt ? gemm.pack_nt : gemm.pack_nn;
        for (std::int64_t panel = gemm.panels(p.n); panel-- > 0;) {
            pack(b.data(), b.ld, p.n, p.k, packed.data(), panel, panel + 1);
        }
        args.packed_b = packed.data();
        args.b = nullptr;
    }
    order(p.form == GemmForm::nt   ? gemm.nt
          : p.form == GemmForm::nn ? gemm.nn
                                   : gemm.tn,
          args, gemm.tiling(p.form, p.m, p.n, p.k).tiles());
    return result;
}

/// Largest distance between two matrices; NaN where one has it and the other not counts as infinite. The gaps between
/// rows are compared too: nothing may have been written there.
double distance(Matrix<float>& x, Matrix<double>& y) {
    double largest = 0;
    for (std::int64_t i = 0; i < y.used; ++i) {
        const double a = static_cast<double>(x.data()[i]);
        const double b = y.data()[i];
        if (std::isnan(a) && std::isnan(b)) continue;
        const double apart = std::abs(a - b);
        largest = std::max(largest, std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart);
    }
    return largest;
}

/// The sum of the squares of C against what the kernel says of its tiles.
void check_square_sums(Result<float>& result) {
    double expected = 0;
    const std::vector<float>& c = result.c.storage;
    for (std::size_t i = 1; i < c.size(); ++i) {
        if (!std::isnan(c[i])) expected += static_cast<double>(c[i]) * static_cast<double>(c[i]);  // NaN: the gaps
    }
    double found = 0;
    for (const double sum : result.square_sums) found += sum;
    CHECK(found == Approx(expected).epsilon(1e-12));
}

/// Elements lie in [-1, 1): a sum of k products wanders to about sqrt(k) / 3 and picks up k roundings of half a unit
/// (u = 2^-24) of that, themselves a random walk: about k u / 3. Twelve times this, and 16 u for the epilogue, is
/// above every rounding and far below the smallest mistake, one product left out.
double tolerance(std::int64_t k) { return (4.0 * static_cast<double>(k) + 16) * 0x1p-24; }

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
}

void check(const Problem& p) {
    Result<double> expected = solve(reference_table<double>().gemm, p);
    for (const Isa isa : available_isas()) {
        INFO(to_string(isa) << ": " << p.name());
        const GemmKernels<float>& gemm = kernel_table(isa).gemm;
        Result<float> result = solve(gemm, p);
        CHECK(distance(result.c, expected.c) <= tolerance(p.k));
        CHECK(distance(result.pre_activation, expected.pre_activation) <= tolerance(p.k));
        for (std::size_t i = 0; i < result.a_sums.size(); ++i) {
            CHECK(std::abs(static_cast<double>(result.a_sums[i]) - expected.a_sums[i]) <= tolerance(p.k));
        }
        if (p.form == GemmForm::tn) check_square_sums(result);
        const Result<float> again = solve(gemm, p, backwards_one_by_one<float>);
        CHECK(same_bits(again.c.storage, result.c.storage));
        CHECK(same_bits(again.pre_activation.storage, result.pre_activation.storage));
        CHECK(same_bits(again.a_sums, result.a_sums));
        CHECK(again.square_sums == result.square_sums);
    }
}

void check_forms(std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate) {
    for (const GemmForm form : {GemmForm::nt, GemmForm::nn, GemmForm::tn}) {
        Problem p;
        p.form = form;
        p.m = m;
        p.n = n;
        p.k = k;
        p.accumulate = accumulate;
        p.a_sums = form == GemmForm::tn;
        p.bias = !p.a_sums && m % 2 == 1;
        check(p);
        p.packed = form != GemmForm::tn;
        if (p.packed) check(p);
    }
}

}  // namespace

TEST_CASE("the reference GEMM is the textbook's") {
    Problem p;
    p.m = 5;
    p.n = 7;
    p.k = 3;
    p.bias = true;
    for (const GemmForm form : {GemmForm::nt, GemmForm::nn, GemmForm::tn}) {
        p.form = form;
        Result<double> result = solve(reference_table<double>().gemm, p);
        Matrix<double> a(form == GemmForm::tn ? p.k : p.m, form == GemmForm::tn ? p.m : p.k, 1);
        Matrix<double> b(form == GemmForm::nt ? p.n : p.k, form == GemmForm::nt ? p.k : p.n, 2);
        Matrix<double> bias(1, p.n, 3);
        for (std::int64_t i = 0; i < p.m; ++i) {
            for (std::int64_t j = 0; j < p.n; ++j) {
                double sum = bias.data()[j];
                for (std::int64_t q = 0; q < p.k; ++q) {
                    const double x = form == GemmForm::tn ? a.data()[q * a.ld + i] : a.data()[i * a.ld + q];
                    const double y = form == GemmForm::nt ? b.data()[j * b.ld + q] : b.data()[q * b.ld + j];
                    sum += x * y;
                }
                CHECK(result.c.data()[i * result.c.ld + j] == Approx(sum).margin(1e-14));
            }
        }
    }
}

TEST_CASE("GEMM of every small size, sampled") {
    RandomStream stream(11, 0);
    for (int sample = 0; sample < 60; ++sample) {
        const auto size = [&] { return static_cast<std::int64_t>(1 + stream.next_below(40)); };
        const std::int64_t m = size(), n = size(), k = size();
        check_forms(m, n, k, sample % 2 == 1);
    }
}

TEST_CASE("GEMM of odd sizes") {
    check_forms(67, 97, 257, false);
    check_forms(97, 257, 67, true);
    check_forms(257, 67, 97, false);
    check_forms(1, 97, 257, false);
    check_forms(67, 1, 97, false);
    check_forms(67, 97, 1, true);
}

TEST_CASE("GEMM with a depth of several blocks and several tiles") {
    check_forms(29, 70, 1601, false);
    check_forms(13, 33, 1100, true);
    check_forms(300, 161, 70, false);
    check_forms(5, 1500, 300, true);
}

TEST_CASE("nt with few rows reads B in place, and a row's result does not depend on its neighbours") {
    const std::int64_t n = 133, k = 300;
    for (const Isa isa : available_isas()) {
        INFO(to_string(isa));
        const GemmKernels<float>& gemm = kernel_table(isa).gemm;
        Problem p;
        p.n = n;
        p.k = k;
        p.m = 2;
        const bool in_place = !gemm.wants_packed(GemmForm::nt, 8, n, k);
        CHECK(gemm.wants_packed(GemmForm::nt, 9, n, k) == gemm.wants_packed(GemmForm::nt, 100, n, k));
        Result<float> two = solve(gemm, p);
        for (p.m = 3; p.m <= 8; ++p.m) {
            Result<float> more = solve(gemm, p);
            if (in_place) CHECK(std::memcmp(more.c.data(), two.c.data(), static_cast<std::size_t>(n) * 4) == 0);
        }
    }
    for (const std::int64_t m : {2, 3, 4, 5, 7, 8}) check_forms(m, n, k, m % 2 == 0);
}

TEST_CASE("GEMM with an empty side") {
    check_forms(0, 5, 3, false);
    check_forms(5, 0, 3, false);
    check_forms(5, 7, 0, false);
    check_forms(14, 70, 0, true);
}

TEST_CASE("B12: GEMM epilogues in every combination") {
    const GemmForm form = GENERATE(GemmForm::nt, GemmForm::nn, GemmForm::tn);
    const bool deep = GENERATE(false, true);
    for (int bits = 0; bits < 8; ++bits) {
        for (const Activation activation : {Activation::none, Activation::gelu_tanh, Activation::gelu_erf}) {
            for (const Residual residual : {Residual::none, Residual::apart, Residual::in_place}) {
                Problem p;
                p.form = form;
                p.m = 15;
                p.n = deep ? 70 : 37;
                p.k = deep ? 1100 : 6;
                p.packed = form != GemmForm::tn && (bits + p.m) % 2 == 0;
                p.accumulate = bits & 1;
                p.bias = bits & 2;
                p.pre_activation = bits & 4;
                p.activation = activation;
                p.residual = residual;
                check(p);
            }
        }
    }
}

TEST_CASE("GEMM tiles cover C exactly, whatever its shape") {
    for (const Isa isa : available_isas()) {
        const GemmKernels<float>& gemm = kernel_table(isa).gemm;
        for (const std::int64_t m : {1, 12, 13, 255, 256, 257, 1024, 50257}) {
            for (const std::int64_t n : {1, 31, 32, 96, 768, 2304, 50257}) {
                for (const std::int64_t k : {0, 1, 32, 768, 3072}) {
                    for (const GemmForm form : {GemmForm::nt, GemmForm::nn, GemmForm::tn}) {
                        const GemmTiling t = gemm.tiling(form, m, n, k);
                        INFO(to_string(isa) << " " << m << "x" << n << "x" << k);
                        CHECK(((t.row_tiles - 1) * t.rows < m && t.row_tiles * t.rows >= m));
                        CHECK(((t.col_tiles - 1) * t.cols < n && t.col_tiles * t.cols >= n));
                    }
                }
            }
        }
    }
}

TEST_CASE("a NaN or infinity in a GEMM stays in its row and column") {
    const std::int64_t m = 14, n = 37, k = 19;
    for (const Isa isa : available_isas()) {
        const GemmKernels<float>& gemm = kernel_table(isa).gemm;
        for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            std::vector<float> a(static_cast<std::size_t>(m * k), 1), b(static_cast<std::size_t>(n * k), 1);
            std::vector<float> c(static_cast<std::size_t>(m * n));
            a[static_cast<std::size_t>(3 * k + 18)] = poison;
            b[static_cast<std::size_t>(36 * k + 2)] = poison;
            GemmArgs<float> args;
            args.m = m;
            args.n = n;
            args.k = k;
            args.a = a.data();
            args.lda = k;
            args.b = b.data();
            args.ldb = k;
            args.c = c.data();
            args.ldc = n;
            gemm.nt(args, 0, gemm.tiling(GemmForm::nt, m, n, k).tiles());
            for (std::int64_t i = 0; i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    INFO(to_string(isa) << " row " << i << " column " << j);
                    const float value = c[static_cast<std::size_t>(i * n + j)];
                    CHECK(std::isfinite(value) == (i != 3 && j != 36));
                }
            }
        }
    }
}

TEST_CASE("the probe kernels compute what they say") {
    for (const Isa isa : available_isas()) {
        INFO(to_string(isa));
        const ProbeKernels<float>& probe = kernel_table(isa).probe;
        std::vector<float> x(1003);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
        CHECK(probe.read(x.data(), 1003) == 3004);
        CHECK(probe.read(x.data(), 5) == 10);
        CHECK(probe.read(x.data(), 0) == 0);
        // Every chain tends to 4.
        const double total = probe.multiply_add(1000);
        CHECK(total > 0);
        CHECK(std::fmod(total, 4) == Approx(0).margin(1e-3));
        CHECK(probe.flops_per_iteration > 0);
    }
}
