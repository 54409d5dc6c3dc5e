#include "data/token_bytes.hpp"

#include "data/tokens.hpp"

namespace causeway {

TokenBytes::TokenBytes(const Tokenizer& tokenizer) {
    for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
        bytes_.push_back(tokenizer.is_special(id) ? 0 : static_cast<std::uint32_t>(tokenizer.token_bytes(id).size()));
    }
}

std::int64_t TokenBytes::count(std::span<const std::int32_t> targets) const {
    std::int64_t sum = 0;
    for (const std::int32_t target : targets) {
        const auto id = static_cast<std::size_t>(target);  // negative ones are beyond the end
        if (is_scored(target) && id < bytes_.size()) sum += bytes_[id];
    }
    return sum;
}

}  // namespace causeway
