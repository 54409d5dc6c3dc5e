#pragma once

#include <algorithm>
#include <vector>

#include "base/alibi.hpp"
#include "ops/attention_shape.hpp"

namespace causeway::ops {

/// Checks the optional inputs [mask], [key_mask] of an attention node, from input `first` on, against its shape.
/// mask: u8 (Tq,Tk) or (1 or B, 1 or H, Tq, Tk); one that is larger in the last two is used top left. key_mask: i32
/// (B,Tk). Throws GraphError.
void check_attention_inputs(const Graph& graph, const Node& node, std::size_t first,
                            const kernels::AttentionShape& shape);

/// Strides of a mask of that shape; data is null.
kernels::MaskView mask_strides(const Shape& mask);

/// What a kernel is told beside its operands: the optional inputs and the attributes alibi, dropout, site of a node.
template <class T>
class AttentionSettings {
  public:
    /// The optional inputs begin at input `first`.
    AttentionSettings(const LowerContext& context, std::size_t first, const kernels::AttentionShape& shape)
        : mask_(context.in(first)), key_mask_(context.in(first + 1)) {
        if (mask_) strides_ = mask_strides(context.in_shape(first));
        const Attributes& attributes = context.attributes();
        if (attributes.has("alibi") && attributes.get<bool>("alibi")) {
            for (const double slope : alibi_slopes(shape.heads)) slopes_.push_back(static_cast<T>(slope));
        }
        if (attributes.has("dropout")) {
            rate_ = attributes.get<double>("dropout");
            site_ = attributes.get<std::int64_t>("site");
        }
    }

    kernels::AttentionVariant<T> at(const RunContext& run) const {
        kernels::AttentionVariant<T> variant;
        variant.mask = strides_;
        variant.mask.data = run.at<const std::uint8_t>(mask_);
        variant.key_mask = run.at<const std::int32_t>(key_mask_);
        variant.slopes = slopes_.empty() ? nullptr : slopes_.data();
        if (rate_ > 0) {
            variant.dropout = kernels::dropout_mask(rate_, run.args.seed, run.args.step, site_, run.args.first_row);
        }
        return variant;
    }

  private:
    BufferRef mask_, key_mask_;
    kernels::MaskView strides_;
    std::vector<T> slopes_;  ///< (H)
    double rate_ = 0;
    std::int64_t site_ = 0;
};

}  // namespace causeway::ops
