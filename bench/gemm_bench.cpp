#include <memory>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "base/philox.hpp"
#include "families.hpp"
#include "support/bench.hpp"
#include "support/gemm.hpp"

namespace causeway::bench {
namespace {

using kernels::GemmArgs;
using kernels::GemmForm;

struct Size {
    std::int64_t m, n, k;
};

/// Operands of one GEMM, B packed beforehand where the kernels want it, as a training step does.
struct Operands {
    Operands(GemmForm its_form, Size its_size)
        : form(its_form),
          size(its_size),
          a(random_floats(size.m * size.k, 1)),
          b(random_floats(size.n * size.k, 2)),
          c(zero_floats(size.m * size.n)),
          packed(packed_if_wanted(form, size.m, b.data(), size.n, size.k)) {}

    void run() {
        GemmArgs<float> args;
        args.m = size.m;
        args.n = size.n;
        args.k = size.k;
        args.a = a.data();
        args.lda = form == GemmForm::tn ? size.m : size.k;
        args.b = b.data();
        args.ldb = form == GemmForm::nt ? size.k : size.n;
        args.packed_b = data_or_null(packed);
        args.c = c.data();
        args.ldc = size.n;
        multiply(form, args);
    }

    GemmForm form;
    Size size;
    Floats a, b, c, packed;
};

/// A product of few rows is bound by reading B.
Work work_of(Size s) {
    const auto flops = static_cast<double>(2 * s.m * s.n * s.k);
    return {.flops = flops,
            .bytes = sizeof(float) * static_cast<double>(s.m * s.k + s.n * s.k + s.m * s.n),
            .stream = s.m == 1 ? Stream::read : Stream::none};
}

void add_product(const char* name, GemmForm form, Size s) {
    add_case(fmt::format("{}/f32/{}x{}x{}", name, s.m, s.n, s.k), work_of(s),
             [form, s] { return [operands = std::make_shared<Operands>(form, s)] { operands->run(); }; });
}

void add_packing(Size s) {
    const double bytes = 2 * sizeof(float) * static_cast<double>(s.n * s.k);
    add_case(fmt::format("gemm_nt_pack/f32/{}x{}x{}", s.m, s.n, s.k), {.bytes = bytes, .stream = Stream::copy}, [s] {
        auto b = random_floats(s.n * s.k, 2), packed = zero_floats(kernels().gemm.packed_elements(s.n, s.k));
        return [=]() mutable { pack(GemmForm::nt, b.data(), s.n, s.k, packed.data()); };
    });
}

/// A size that fills no tile, and beside it the same padded to whole tiles of 12 x 32, the largest there are: how well
/// edges are handled is the ratio of the two.
void add_odd(GemmForm form, const char* form_name, Size s) {
    const std::string shape = fmt::format("f32/{}x{}x{}", s.m, s.n, s.k);
    const Size padded{round_up(s.m, std::int64_t{12}), round_up(s.n, std::int64_t{32}), s.k};
    for (const auto& [full_name, size] : {std::pair{fmt::format("gemm_odd_{}/{}", form_name, shape), s},
                                          std::pair{fmt::format("gemm_odd_{}_padded/{}", form_name, shape), padded}}) {
        add_case(full_name, work_of(size), [form, size = size] {
            return [operands = std::make_shared<Operands>(form, size)] { operands->run(); };
        });
    }
}

void add_odd_sizes() {
    std::vector<Size> sizes{{67, 97, 257}, {97, 257, 67}, {257, 67, 97}};
    RandomStream random(1, 0);
    const auto small = [&] { return static_cast<std::int64_t>(1 + random.next_below(40)); };
    while (sizes.size() < 20) sizes.push_back({small(), small(), small()});
    for (const Size& size : sizes) {
        add_odd(GemmForm::nt, "nt", size);
        add_odd(GemmForm::nn, "nn", size);
        add_odd(GemmForm::tn, "tn", size);
    }
}

}  // namespace

void register_gemm() {
    const Size forward_sizes[] = {{1024, 1024, 1024}, {256, 2304, 768},  {256, 768, 768}, {256, 3072, 768},
                                  {256, 768, 3072},   {256, 50304, 768}, {64, 512, 64},   {12, 96, 32},
                                  {48, 96, 32},       {1, 768, 768},     {97, 257, 67}};
    for (const Size& size : forward_sizes) add_product("gemm_nt", GemmForm::nt, size);

    // Gradients: of GPT-2's layers, of a small model's (much depth, little to write) and of its head.
    add_product("gemm_nn", GemmForm::nn, {256, 768, 2304});
    add_product("gemm_nn", GemmForm::nn, {768, 128, 384});
    add_product("gemm_nn", GemmForm::nn, {12, 32, 96});
    add_product("gemm_tn", GemmForm::tn, {768, 2304, 256});
    add_product("gemm_tn", GemmForm::tn, {128, 128, 768});
    add_product("gemm_tn", GemmForm::tn, {96, 32, 12});
    add_product("gemm_tn", GemmForm::tn, {50304, 768, 256});

    for (const Size& size : forward_sizes) add_packing(size);
    add_odd_sizes();
}

}  // namespace causeway::bench
