#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "config/config.hpp"

namespace causeway {

/// A token file of llm.c: a header of 256 int32, of which the first three are a magic number, a version and the number
/// of tokens; then the tokens.
struct LlmcTokens {
    std::int32_t magic;
    std::int32_t version;
    TokenType type;
};
inline constexpr LlmcTokens llmc_tokens_16{20240520, 1, TokenType::uint16};
inline constexpr LlmcTokens llmc_tokens_32{20240801, 7, TokenType::uint32};
inline constexpr std::array llmc_token_kinds{llmc_tokens_16, llmc_tokens_32};
inline constexpr std::size_t llmc_header_bytes = 256 * sizeof(std::int32_t);

}  // namespace causeway
