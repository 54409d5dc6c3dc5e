#include "data/tokens.hpp"

#include <algorithm>
#include <cstddef>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string_view kind, std::int64_t value, std::size_t position,
                         std::int64_t vocab_size, std::string_view also) {
    throw DataError(fmt::format("{}: {} {} at position {} is outside [0, {}), the range of vocab_size {}{}", where,
                                kind, value, position, vocab_size, vocab_size, also));
}

template <class Bad>
std::size_t first_bad(std::span<const std::int32_t> values, Bad bad) {
    return static_cast<std::size_t>(std::find_if(values.begin(), values.end(), bad) - values.begin());
}

}  // namespace

void pad_row(std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
    std::ranges::fill(inputs, padding_token);
    std::ranges::fill(targets, ignore_index);
}

void check_tokens(std::span<const std::int32_t> ids, std::int64_t vocab_size, std::string_view where) {
    const auto bad = [vocab_size](std::int32_t id) { return id < 0 || id >= vocab_size; };
    const std::size_t position = first_bad(ids, bad);
    if (position < ids.size()) refuse(where, "token", ids[position], position, vocab_size, "");
}

void check_targets(std::span<const std::int32_t> targets, std::int64_t vocab_size, std::string_view where) {
    const auto bad = [vocab_size](std::int32_t id) { return id != ignore_index && (id < 0 || id >= vocab_size); };
    const std::size_t position = first_bad(targets, bad);
    if (position < targets.size()) {
        refuse(where, "target", targets[position], position, vocab_size,
               fmt::format("; only {} is ignored", ignore_index));
    }
}

}  // namespace causeway
