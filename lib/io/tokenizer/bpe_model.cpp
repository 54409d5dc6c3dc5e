#include "io/tokenizer/bpe_model.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/byte_level.hpp"

namespace causeway {
namespace {

/// Up to here looking at all pairs after each merge is faster than keeping them in order.
constexpr std::size_t short_word = 48;

constexpr std::size_t longest_word = std::size_t{1} << 31;

constexpr std::uint32_t end_of_word = ~std::uint32_t{0};

std::int32_t result_of(std::uint64_t merge) { return static_cast<std::int32_t>(merge & 0xFFFFFFFFu); }

}  // namespace

BpeModel::BpeModel(Vocabulary vocabulary, const std::vector<BpeMerge>& merges, const BpeOptions& options)
    : vocabulary_(std::move(vocabulary)), options_(options), pairs_(merges.size()) {
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        const BpeMerge& merge = merges[rank];
        pairs_.set(merge.left, merge.right, static_cast<std::uint32_t>(rank), merge.result);
    }
    all_bytes_ = options.byte_level;
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::string character;
        if (options.byte_level) {
            utf8::append(character, byte_level::characters()[byte]);
        } else if (byte < 0x80) {
            character.push_back(static_cast<char>(byte));
        }
        byte_ids_[byte] = token_of(character);
        fallback_ids_[byte] = token_of(fmt::format("<0x{:02X}>", byte));
        all_bytes_ = all_bytes_ && byte_ids_[byte] >= 0;
    }
}

std::int32_t BpeModel::token_of(std::string_view character) const {
    const auto found = vocabulary_.find(character);
    return found == vocabulary_.end() ? -1 : found->second;
}

std::optional<std::int32_t> BpeModel::whole_word(std::string_view word) const {
    const std::int32_t id = options_.byte_level ? token_of(byte_level::to_text(word)) : token_of(word);
    return id < 0 ? std::nullopt : std::optional(id);
}

/// The ids of the word's bytes or characters.
void BpeModel::first_symbols(std::string_view word, std::vector<std::int32_t>& ids) const {
    std::optional<std::int32_t> unknown;  // seen, and not written yet: the next one may be fused with it
    const auto write_unknown = [&] {
        if (unknown) ids.push_back(*unknown);
        unknown.reset();
    };
    for (std::size_t at = 0; at < word.size();) {
        const auto byte = static_cast<unsigned char>(word[at]);
        const bool single = options_.byte_level || byte < 0x80;
        // What is no UTF-8 is taken byte by byte.
        const std::size_t bytes = single ? 1 : std::max<std::size_t>(utf8::decode(word, at).bytes, 1);
        const std::string_view character = word.substr(at, bytes);
        at += bytes;
        if (const std::int32_t id = single ? byte_ids_[byte] : token_of(character); id >= 0) {
            write_unknown();
            ids.push_back(id);
            continue;
        }
        const std::string written = options_.byte_level ? byte_level::to_text(character) : std::string(character);
        const auto fallback = [&](char c) { return fallback_ids_[static_cast<unsigned char>(c)]; };
        if (options_.byte_fallback && std::ranges::all_of(written, [&](char c) { return fallback(c) >= 0; })) {
            for (const char c : written) ids.push_back(fallback(c));
            continue;
        }
        if (unknown && !options_.fuse_unk) write_unknown();
        unknown = options_.unk;
    }
    write_unknown();
}

void BpeModel::encode(std::string_view word, Scratch& scratch, std::vector<std::int32_t>& ids) const {
    if (options_.ignore_merges) {
        if (const std::optional<std::int32_t> id = whole_word(word)) return ids.push_back(*id);
    }
    if (word.size() > longest_word) {
        throw DataError(fmt::format("a word of {} bytes, which no pattern or blank parts, is longer than {} bytes",
                                    word.size(), longest_word));
    }
    scratch.ids.clear();
    if (all_bytes_) {
        for (const char byte : word) scratch.ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    } else {
        first_symbols(word, scratch.ids);
    }
    if (scratch.ids.size() <= short_word) {
        merge_short(scratch);
    } else {
        merge_long(scratch);
    }
    ids.insert(ids.end(), scratch.ids.begin(), scratch.ids.end());
}

void BpeModel::merge_short(Scratch& scratch) const {
    std::size_t count = scratch.ids.size();
    if (count < 2) return;
    std::int32_t ids[short_word];
    std::uint64_t merges[short_word];  // of each symbol with the next
    std::copy(scratch.ids.begin(), scratch.ids.end(), ids);
    for (std::size_t i = 0; i + 1 < count; ++i) merges[i] = pairs_.find(ids[i], ids[i + 1]);
    while (count > 1) {
        const std::uint64_t* const lowest = std::min_element(merges, merges + count - 1);
        if (*lowest == PairMap::none) break;
        const auto at = static_cast<std::size_t>(lowest - merges);
        ids[at] = result_of(*lowest);
        std::copy(ids + at + 2, ids + count, ids + at + 1);
        std::copy(merges + at + 1, merges + count - 1, merges + at);
        --count;
        if (at + 1 < count) merges[at] = pairs_.find(ids[at], ids[at + 1]);
        if (at > 0) merges[at - 1] = pairs_.find(ids[at - 1], ids[at]);
    }
    scratch.ids.assign(ids, ids + count);
}

/// The symbols are a linked list by place; a heap holds what could be merged, and what is out of date is passed over.
void BpeModel::merge_long(Scratch& scratch) const {
    std::vector<std::int32_t>& ids = scratch.ids;
    std::vector<std::uint64_t>& merges = scratch.merges;
    std::vector<std::uint32_t>&previous = scratch.previous, &next = scratch.next;
    auto& heap = scratch.heap;
    const auto count = static_cast<std::uint32_t>(ids.size());
    merges.assign(count, PairMap::none);
    previous.resize(count);
    next.resize(count);
    heap.clear();
    // merges[i] is what place i and the next would become now; an entry of the heap that says otherwise is old.
    const auto look = [&](std::uint32_t left) {
        merges[left] = next[left] == end_of_word ? PairMap::none : pairs_.find(ids[left], ids[next[left]]);
        return merges[left] != PairMap::none;
    };
    const auto later = [](const auto& a, const auto& b) { return a > b; };
    for (std::uint32_t i = 0; i < count; ++i) {
        previous[i] = i == 0 ? end_of_word : i - 1;
        next[i] = i + 1 == count ? end_of_word : i + 1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (look(i)) heap.emplace_back(merges[i], i);
    }
    std::ranges::make_heap(heap, later);
    const auto push = [&](std::uint32_t left) {
        if (!look(left)) return;
        heap.emplace_back(merges[left], left);
        std::ranges::push_heap(heap, later);
    };
    while (!heap.empty()) {
        std::ranges::pop_heap(heap, later);
        const auto [merge, left] = heap.back();
        heap.pop_back();
        if (merges[left] != merge) continue;
        const std::uint32_t right = next[left];
        ids[left] = result_of(merge);
        merges[right] = PairMap::none;
        next[left] = next[right];
        if (next[left] != end_of_word) previous[next[left]] = left;
        ids[right] = -1;
        push(left);
        if (previous[left] != end_of_word) push(previous[left]);
    }
    std::erase(ids, -1);
}

}  // namespace causeway
