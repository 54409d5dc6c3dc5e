#include <fmt/format.h>

#include <memory>

#include "base/buffer.hpp"
#include "families.hpp"
#include "support/bench.hpp"

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
          c(sizeof(float) * static_cast<std::size_t>(size.m * size.n)),
          packed(sizeof(float) * static_cast<std::size_t>(kernels().gemm.packed_elements(size.n, size.k))) {
        if (form != GemmForm::tn && kernels().gemm.wants_packed(form, size.m, size.n, size.k)) {
            pack();
        }
    }

    float* packed_data() const { return reinterpret_cast<float*>(packed.data()); }

    void pack() {
        const auto pack_panels = form == GemmForm::nt ? kernels().gemm.pack_nt : kernels().gemm.pack_nn;
        run_tiles(kernels().gemm.panels(size.n), [&](std::int64_t begin, std::int64_t end) {
            pack_panels(b.data(), form == GemmForm::nt ? size.k : size.n, size.n, size.k, packed_data(), begin, end);
        });
        is_packed = true;
    }

    void multiply() const {
        GemmArgs<float> args;
        args.m = size.m;
        args.n = size.n;
        args.k = size.k;
        args.a = a.data();
        args.lda = form == GemmForm::tn ? size.m : size.k;
        args.b = b.data();
        args.ldb = form == GemmForm::nt ? size.k : size.n;
        args.packed_b = is_packed ? packed_data() : nullptr;
        args.c = reinterpret_cast<float*>(c.data());
        args.ldc = size.n;
        const auto& gemm = kernels().gemm;
        const auto kernel = form == GemmForm::nt ? gemm.nt : form == GemmForm::nn ? gemm.nn : gemm.tn;
        run_tiles(gemm.tiling(form, size.m, size.n, size.k).tiles(),
                  [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
    }

    GemmForm form;
    Size size;
    std::vector<float> a, b;
    Buffer c, packed;
    bool is_packed = false;
};

Work work_of(Size s) {
    const auto flops = static_cast<double>(2 * s.m * s.n * s.k);
    return {flops, sizeof(float) * static_cast<double>(s.m * s.k + s.n * s.k + s.m * s.n)};
}

void add_product(const char* name, GemmForm form, Size s) {
    add_case(fmt::format("{}/f32/{}x{}x{}", name, s.m, s.n, s.k), work_of(s), [form, s] {
        auto operands = std::make_shared<Operands>(form, s);
        return [operands] { operands->multiply(); };
    });
}

void add_packing(Size s) {
    const double bytes = 2 * sizeof(float) * static_cast<double>(s.n * s.k);
    add_case(fmt::format("gemm_nt_pack/f32/{}x{}x{}", s.m, s.n, s.k), {.bytes = bytes}, [s] {
        auto operands = std::make_shared<Operands>(GemmForm::nt, s);
        return [operands] { operands->pack(); };
    });
}

}  // namespace

void register_gemm() {
    const Size forward_sizes[] = {{1024, 1024, 1024}, {256, 2304, 768},  {256, 768, 768}, {256, 3072, 768},
                                  {256, 768, 3072},   {256, 50304, 768}, {64, 512, 64},   {12, 96, 32},
                                  {48, 96, 32},       {1, 768, 768},     {97, 257, 67}};
    for (const Size& size : forward_sizes) add_product("gemm_nt", GemmForm::nt, size);
    for (const Size& size : forward_sizes) add_packing(size);

    // Gradients: of GPT-2's layers, of a small model's (much depth, little to write) and of its head.
    add_product("gemm_nn", GemmForm::nn, {256, 768, 2304});
    add_product("gemm_nn", GemmForm::nn, {768, 128, 384});
    add_product("gemm_nn", GemmForm::nn, {12, 32, 96});
    add_product("gemm_tn", GemmForm::tn, {768, 2304, 256});
    add_product("gemm_tn", GemmForm::tn, {128, 128, 768});
    add_product("gemm_tn", GemmForm::tn, {96, 32, 12});
    add_product("gemm_tn", GemmForm::tn, {50304, 768, 256});
}

}  // namespace causeway::bench
