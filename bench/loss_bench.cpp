#include "base/format.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

/// Logits of rows x vocab; the gradient takes their place, and is as good a set of logits for the next run.
template <bool with_gradient>
void add_loss(const char* name, std::int64_t rows, std::int64_t vocab) {
    const auto elements = static_cast<double>(rows * vocab);
    // The forward reads once, with the gradient there is a second pass that also writes.
    const Work work{.flops = 20 * elements,
                    .bytes = (with_gradient ? 12 : 4) * elements,
                    .stream = with_gradient ? Stream::copy : Stream::read,
                    .distinct_bytes = 4 * elements};
    add_case(fmt::format("{}/f32/{}x{}", name, rows, vocab), work, [rows, vocab] {
        auto logits = random_floats(rows * vocab, 1);
        std::vector<std::int32_t> targets;
        for (std::int64_t r = 0; r < rows; ++r) targets.push_back(static_cast<std::int32_t>(r * 197 % vocab));
        std::vector<double> loss(targets.size());
        return [=]() mutable {
            const kernels::CrossEntropyArgs<float> args = {logits.data(), vocab, vocab, targets.data(), loss.data()};
            const auto& cross_entropy = kernels().cross_entropy;
            run_tiles(rows, [&](std::int64_t begin, std::int64_t end) {
                with_gradient ? cross_entropy.forward_backward(args, begin, end)
                              : cross_entropy.forward(args, begin, end);
            });
        };
    });
}

}  // namespace

void register_loss() {
    for (const auto& [rows, vocab] : {std::pair<std::int64_t, std::int64_t>{256, 50257}, {768, 256}}) {
        add_loss<false>("cross_entropy_fwd", rows, vocab);
        add_loss<true>("cross_entropy_fwdbwd", rows, vocab);
    }
}

}  // namespace causeway::bench
