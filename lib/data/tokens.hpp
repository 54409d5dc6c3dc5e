#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace causeway {

/// The target of a position that carries no loss and is not scored.
inline constexpr std::int32_t ignore_index = -100;

/// The input of a position beyond the end of a document. Its target is ignored.
inline constexpr std::int32_t padding_token = 0;

/// True when a position with this target counts in the loss and in a task's accuracy.
constexpr bool is_scored(std::int32_t target) { return target != ignore_index; }

/// Fills what is left of a row, or all of it: inputs that are padding, targets that are ignored.
void pad_row(std::span<std::int32_t> inputs, std::span<std::int32_t> targets);

/// Throws DataError unless every id lies in [0, vocab_size); the message has `where`, the first bad value, its position
/// and the range. O(n), allocates nothing when all is well.
void check_tokens(std::span<const std::int32_t> ids, std::int64_t vocab_size, std::string_view where);

/// The same for targets, among which ignore_index is allowed.
void check_targets(std::span<const std::int32_t> targets, std::int64_t vocab_size, std::string_view where);

}  // namespace causeway
