#include "data/token_store.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/tokens.hpp"
#include "io/mapped_file.hpp"
#include "io/token_file.hpp"

namespace causeway {
namespace {

template <class T>
T load(const std::byte* data, std::size_t index) {
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
}

/// A negative number becomes one that is larger than any vocabulary.
template <class T>
std::uint64_t as_id(T value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

[[noreturn]] void refuse(const TokenPiece& piece, std::int64_t position, std::int64_t value, std::int64_t vocab_size) {
    throw DataError(fmt::format("{}: token {} at position {} is outside [0, {}), the range of vocab_size {}",
                                piece.origin, value, position, vocab_size, vocab_size));
}

/// Writes tokens first .. first+out.size()-1 of the piece, each below vocab_size. One pass without a branch; who is to
/// blame is looked for afterwards.
template <class T>
void copy_as(const TokenPiece& piece, std::int64_t first, std::int64_t vocab_size, std::span<std::int32_t> out) {
    const std::byte* data = piece.data + static_cast<std::size_t>(first) * sizeof(T);
    const auto limit = static_cast<std::uint64_t>(vocab_size);
    bool bad = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const T value = load<T>(data, i);
        out[i] = static_cast<std::int32_t>(value);
        bad |= as_id(value) >= limit;
    }
    if (!bad) return;
    std::size_t i = 0;
    while (as_id(load<T>(data, i)) < limit) ++i;
    refuse(piece, first + static_cast<std::int64_t>(i), static_cast<std::int64_t>(load<T>(data, i)), vocab_size);
}

using CopyPiece = void (*)(const TokenPiece&, std::int64_t first, std::int64_t vocab_size, std::span<std::int32_t>);
/// In the order of TokenType.
constexpr std::array<CopyPiece, 6> copiers{nullptr,
                                           copy_as<std::uint8_t>,
                                           copy_as<std::uint16_t>,
                                           copy_as<std::uint32_t>,
                                           copy_as<std::int32_t>,
                                           copy_as<std::int64_t>};

std::int64_t first_part(std::int64_t n, double validation_fraction) {
    return static_cast<std::int64_t>(std::floor((1.0 - validation_fraction) * static_cast<double>(n)));
}

}  // namespace

void TokenStore::append(TokenPiece piece) {
    if (piece.count == 0) return;
    ends_.push_back(size() + piece.count);
    masked_ = masked_ || piece.loss != nullptr;
    pieces_.push_back(std::move(piece));
}

/// Calls each(piece, first token in the piece, first token in the range, how many) for the pieces of a range, in order.
template <class Each>
void TokenStore::for_pieces(std::int64_t first, std::int64_t count, const Each& each) const {
    auto at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
    for (std::int64_t done = 0; done < count; ++at) {
        const TokenPiece& piece = pieces_[at];
        const std::int64_t inside = first + done - (ends_[at] - piece.count);
        const std::int64_t part = std::min(piece.count - inside, count - done);
        each(piece, inside, static_cast<std::size_t>(done), static_cast<std::size_t>(part));
        done += part;
    }
}

void TokenStore::copy(std::int64_t first, std::span<std::int32_t> out) const {
    const auto each = [&](const TokenPiece& piece, std::int64_t inside, std::size_t at, std::size_t part) {
        copiers[static_cast<std::size_t>(piece.type)](piece, inside, vocab_size_, out.subspan(at, part));
    };
    for_pieces(first, static_cast<std::int64_t>(out.size()), each);
}

void TokenStore::copy_targets(std::int64_t first, std::span<std::int32_t> out) const {
    copy(first, out);
    if (!masked_) return;
    const auto each = [&](const TokenPiece& piece, std::int64_t inside, std::size_t at, std::size_t part) {
        if (piece.loss == nullptr) return;
        for (std::size_t i = 0; i < part; ++i) {
            if (piece.loss[static_cast<std::size_t>(inside) + i] == 0) out[at + i] = ignore_index;
        }
    };
    for_pieces(first, static_cast<std::int64_t>(out.size()), each);
}

void TokenStore::check_files() const {
    for (const TokenPiece& piece : pieces_) {
        if (piece.file != nullptr) piece.file->check_length();
    }
}

TokenPart whole(std::shared_ptr<const TokenStore> store) {
    const std::int64_t size = store->size();
    const auto documents = static_cast<std::int64_t>(store->documents().size());
    return {std::move(store), 0, size, 0, documents};
}

TokenSplit split_tokens(std::shared_ptr<const TokenStore> store, double validation_fraction) {
    const std::int64_t n = store->size(), train = first_part(n, validation_fraction);
    return {{store, 0, train, 0, 0}, {store, train, n - train, 0, 0}};
}

TokenSplit split_documents(std::shared_ptr<const TokenStore> store, double validation_fraction) {
    const std::span<const std::int64_t> starts = store->documents();
    const auto n = static_cast<std::int64_t>(starts.size());
    const std::int64_t train = first_part(n, validation_fraction);
    const std::int64_t at = train < n ? starts[static_cast<std::size_t>(train)] : store->size();
    return {{store, 0, at, 0, train}, {store, at, store->size() - at, train, n - train}};
}

}  // namespace causeway
