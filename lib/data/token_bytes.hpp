#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// How many bytes of text each token stands for, to tell a loss in bits per byte. Special tokens stand for none.
class TokenBytes {
  public:
    /// Asks for every id once.
    explicit TokenBytes(const Tokenizer& tokenizer);

    /// Bytes of all targets that are scored; ids that the tokenizer doesn't have count nothing. Allocates nothing.
    std::int64_t count(std::span<const std::int32_t> targets) const;

  private:
    std::vector<std::uint32_t> bytes_;  ///< of each id
};

}  // namespace causeway
