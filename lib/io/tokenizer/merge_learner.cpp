#include "io/tokenizer/merge_learner.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace causeway {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

struct PairHash {
    std::size_t operator()(const Pair& pair) const {
        const std::uint64_t key =
            (std::uint64_t{static_cast<std::uint32_t>(pair.first)} << 32) | static_cast<std::uint32_t>(pair.second);
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 16);
    }
};

struct Word {
    std::vector<std::int32_t> symbols;
    std::int64_t count = 0;
};

/// How often a pair occurs, and in which words: all of them, and some that had it before.
struct Occurrences {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;
};

struct Candidate {
    std::int64_t count;
    Pair pair;
    /// The one to take first is the largest of the queue.
    bool operator<(const Candidate& other) const {
        return count != other.count ? count < other.count : pair > other.pair;
    }
};

class Learner {
  public:
    Learner(const WordCounts& words, const std::vector<std::int32_t>& byte_ids) {
        for (const auto& [text, count] : words) {
            Word word;
            for (const char byte : text) word.symbols.push_back(byte_ids[static_cast<unsigned char>(byte)]);
            word.count = static_cast<std::int64_t>(count);
            words_.push_back(std::move(word));
        }
        for (std::uint32_t i = 0; i < words_.size(); ++i) {
            const std::vector<std::int32_t>& symbols = words_[i].symbols;
            for (std::size_t at = 1; at < symbols.size(); ++at) add({symbols[at - 1], symbols[at]}, i, words_[i].count);
        }
        for (const auto& [pair, occurrences] : pairs_) queue_.push({occurrences.count, pair});
    }

    /// The pair to merge next, out of the queue; counts there may be out of date, but never too low.
    bool take(Candidate& best) {
        while (!queue_.empty()) {
            best = queue_.top();
            queue_.pop();
            const auto found = pairs_.find(best.pair);
            const std::int64_t count = found == pairs_.end() ? 0 : found->second.count;
            if (best.count == count) return true;
            if (count > 0) queue_.push({count, best.pair});
        }
        return false;
    }

    void merge(const Pair& pair, std::int32_t id) {
        const std::vector<std::uint32_t> words = std::move(pairs_.at(pair).words);
        pairs_.erase(pair);
        changed_.clear();
        for (const std::uint32_t word : words) merge_in(word, pair, id);
        // Only pairs with the new symbol have become more frequent.
        std::ranges::sort(changed_);
        const auto repeated = std::ranges::unique(changed_);
        changed_.erase(repeated.begin(), repeated.end());
        for (const Pair& grown : changed_) {
            if (const auto found = pairs_.find(grown); found != pairs_.end() && found->second.count > 0) {
                queue_.push({found->second.count, grown});
            }
        }
    }

  private:
    void add(const Pair& pair, std::uint32_t word, std::int64_t count) {
        Occurrences& occurrences = pairs_[pair];
        occurrences.count += count;
        if (occurrences.words.empty() || occurrences.words.back() != word) occurrences.words.push_back(word);
    }

    void remove(const Pair& pair, std::int64_t count) {
        if (const auto found = pairs_.find(pair); found != pairs_.end()) found->second.count -= count;
    }

    void merge_in(std::uint32_t index, const Pair& pair, std::int32_t id) {
        std::vector<std::int32_t>& symbols = words_[index].symbols;
        const std::int64_t count = words_[index].count;
        std::size_t kept = 0;
        for (std::size_t at = 0; at < symbols.size(); ++at, ++kept) {
            if (at + 1 == symbols.size() || symbols[at] != pair.first || symbols[at + 1] != pair.second) {
                symbols[kept] = symbols[at];
                continue;
            }
            if (kept > 0) {
                remove({symbols[kept - 1], pair.first}, count);
                grow({symbols[kept - 1], id}, index, count);
            }
            if (at + 2 < symbols.size()) {
                remove({pair.second, symbols[at + 2]}, count);
                grow({id, symbols[at + 2]}, index, count);
            }
            symbols[kept] = id;
            ++at;
        }
        symbols.resize(kept);
    }

    void grow(const Pair& pair, std::uint32_t word, std::int64_t count) {
        add(pair, word, count);
        changed_.push_back(pair);
    }

    std::vector<Word> words_;
    std::unordered_map<Pair, Occurrences, PairHash> pairs_;
    std::priority_queue<Candidate> queue_;
    std::vector<Pair> changed_;
};

}  // namespace

LearnedMerges learn_merges(const WordCounts& words, const std::vector<std::int32_t>& byte_ids, const Vocabulary& taken,
                           std::int32_t first_id, std::size_t most_tokens, std::uint64_t min_frequency) {
    std::unordered_map<std::int32_t, std::string> bytes;
    Vocabulary ids = taken;
    for (const auto& [token, id] : taken) bytes[id] = token;
    for (std::size_t byte = 0; byte < byte_ids.size(); ++byte) {
        bytes[byte_ids[byte]] = std::string(1, static_cast<char>(byte));
    }
    Learner learner(words, byte_ids);
    LearnedMerges learned;
    Candidate best{};
    while (learned.tokens.size() < most_tokens && learner.take(best)) {
        if (best.count < 1 || static_cast<std::uint64_t>(best.count) < min_frequency) break;
        const auto [left, right] = best.pair;
        const std::string joined = bytes.at(left) + bytes.at(right);
        const auto next = first_id + static_cast<std::int32_t>(learned.tokens.size());
        const auto [place, is_new] = ids.emplace(joined, next);
        if (is_new) {
            learned.tokens.push_back(joined);
            bytes[next] = joined;
        }
        learner.merge(best.pair, place->second);
        learned.merges.push_back({left, right, place->second});
    }
    return learned;
}

}  // namespace causeway
