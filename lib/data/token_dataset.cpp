#include "data/token_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "causeway/error.hpp"

namespace causeway {
namespace {

/// A byte is always below 256; a smaller vocabulary makes every byte of the file worth a look.
void check_bytes(const MappedFile& file, std::int64_t vocab_size) {
    if (vocab_size >= 256) return;
    const auto bytes = file.bytes();
    const auto outside = [vocab_size](std::byte byte) { return std::to_integer<std::int64_t>(byte) >= vocab_size; };
    const auto found = std::find_if(bytes.begin(), bytes.end(), outside);
    if (found == bytes.end()) return;
    throw DataError(fmt::format("{}: token {} at position {} is outside [0, {}), the range of vocab_size {}",
                                file.path(), std::to_integer<int>(*found), found - bytes.begin(), vocab_size,
                                vocab_size));
}

}  // namespace

void TokenSpan::copy(std::int64_t first, std::span<std::int32_t> out) const {
    const std::byte* source = bytes_.data() + first;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::to_integer<std::int32_t>(source[i]);
}

void copy_window(const TokenSpan& tokens, std::int64_t start, std::span<std::int32_t> inputs,
                 std::span<std::int32_t> targets) {
    tokens.copy(start, inputs);
    tokens.copy(start + 1, targets);
}

TokenDataset::TokenDataset(const std::string& path, double validation_fraction, std::int64_t vocab_size) : file_(path) {
    if (file_.size() == 0) throw DataError(fmt::format("{}: is empty, expected text to train on", path));
    check_bytes(file_, vocab_size);
    const TokenSpan all(file_.bytes());
    const auto split =
        static_cast<std::int64_t>(std::floor((1.0 - validation_fraction) * static_cast<double>(all.size())));
    train_ = all.subspan(0, split);
    validation_ = all.subspan(split, all.size() - split);
}

}  // namespace causeway
