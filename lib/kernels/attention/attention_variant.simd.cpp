#include "kernels/attention/attention_variant.hpp"

#include "kernels/attention/attention_tile.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

constexpr float infinity = __builtin_inff();

/// Whether none of 8 bytes is 0 (Mycroft's test).
bool all_set(const std::uint8_t* bytes) {
    std::uint64_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    return ((word - 0x0101010101010101U) & ~word & 0x8080808080808080U) == 0;
}

/// s[c * stride] = -inf where mask[c] is 0.
void hide(const std::uint8_t* mask, std::int64_t n, float* s, std::int64_t stride) {
    for (std::int64_t c = 0; c < n;) {
        if (c + 8 <= n && all_set(mask + c)) {
            c += 8;
            continue;
        }
        const std::int64_t end = least(n, c + 8);
        for (; c < end; ++c) {
            if (mask[c] == 0) s[c * stride] = -infinity;
        }
    }
}

}  // namespace

HeadVariant head_variant(const AttentionVariant<float>& variant, const AttentionShape& shape, std::int64_t b,
                         std::int64_t h, float unit) {
    const MaskView& mask = variant.mask;
    return {mask.data != nullptr ? mask.data + b * mask.batch_stride + h * mask.head_stride : nullptr,
            mask.query_stride, variant.key_mask != nullptr ? variant.key_mask + b * shape.keys : nullptr,
            variant.slopes != nullptr ? variant.slopes[h] * unit : 0.0f, shape.keys - shape.queries};
}

void adjust_row(const HeadVariant& variant, std::int64_t i, std::int64_t j, std::int64_t n, float* s) {
    if (variant.slope != 0.0f) {
        const Vec slope(-variant.slope), lane = lane_index();
        for (std::int64_t c = 0; c < n; c += lanes) {
            const Vec distance = Vec(static_cast<float>(i + variant.past - j - c)) - lane;
            const std::int64_t width = least(lanes, n - c);
            store_partial(s + c, xsimd::fma(slope, xsimd::abs(distance), load_partial(s + c, width)), width);
        }
    }
    if (variant.key_mask != nullptr) {
        for (std::int64_t c = 0; c < n; ++c) {
            if (variant.key_mask[j + c] == 0) s[c] = -infinity;
        }
    }
    if (variant.mask != nullptr) hide(variant.mask + i * variant.mask_stride + j, n, s, 1);
}

void adjust_columns(const HeadVariant& variant, std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t n,
                    float* s, std::int64_t stride) {
    if (variant.slope != 0.0f) {
        const Vec slope(-variant.slope);
        const Vec position = lane_index() + Vec(static_cast<float>(i + variant.past - j));
        for (std::int64_t r = 0; r < n; ++r) {
            const Vec distance = position - Vec(static_cast<float>(r));
            store(s + r * stride, xsimd::fma(slope, xsimd::abs(distance), load(s + r * stride)));
        }
    }
    if (variant.key_mask != nullptr) {
        for (std::int64_t r = 0; r < n; ++r) {
            if (variant.key_mask[j + r] == 0) store(s + r * stride, Vec(-infinity));
        }
    }
    if (variant.mask != nullptr) {
        for (std::int64_t l = 0; l < rows; ++l) {
            hide(variant.mask + (i + l) * variant.mask_stride + j, n, s + l, stride);
        }
    }
}

void hide_before(std::int64_t low, std::int64_t n, float* s, std::int64_t stride) {
    const Vec lane = lane_index();
    for (std::int64_t r = 0; r < least(n, low + lanes - 1); ++r) {
        const auto visible = lane <= Vec(static_cast<float>(r - low));
        store(s + r * stride, xsimd::select(visible, load(s + r * stride), Vec(-infinity)));
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
