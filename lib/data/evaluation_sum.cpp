#include "data/evaluation_sum.hpp"

#include <algorithm>
#include <numbers>

#include "data/tokens.hpp"

namespace causeway {

void EvaluationSum::add(double batch_loss, std::span<const std::int32_t> batch_targets, const TokenBytes* token_bytes) {
    loss += batch_loss;
    targets += std::ranges::count_if(batch_targets, is_scored);
    if (token_bytes != nullptr) bytes += token_bytes->count(batch_targets);
}

double EvaluationSum::mean_loss() const { return loss / static_cast<double>(std::max<std::int64_t>(targets, 1)); }

std::optional<double> EvaluationSum::accuracy() const {
    if (targets == 0) return std::nullopt;
    return static_cast<double>(hits) / static_cast<double>(targets);
}

std::optional<double> EvaluationSum::bits_per_byte() const {
    if (bytes == 0) return std::nullopt;
    return loss / (std::numbers::ln2 * static_cast<double>(bytes));
}

}  // namespace causeway
