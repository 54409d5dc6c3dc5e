#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "causeway/error.hpp"
#include "data/batches.hpp"
#include "data/stores.hpp"
#include "data/tokens.hpp"
#include "data/window_sources.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// Tokens that count from 0, in pieces of several widths as if they were of several files.
std::shared_ptr<const TokenStore> counting_store(std::int64_t size) {
    auto store = std::make_shared<TokenStore>(256);
    const std::int64_t first = std::min<std::int64_t>(size, 5), second = std::min<std::int64_t>(size - first, 6);
    append_counting<std::uint16_t>(*store, TokenType::uint16, 0, first);
    append_counting<std::int64_t>(*store, TokenType::int64, first, second);
    append_counting<std::uint8_t>(*store, TokenType::uint8, first + second, size - first - second);
    return store;
}

/// Tokens that count from 0: of `train` of training, or of the `validation` behind them.
struct Windows {
    std::shared_ptr<const TokenStore> store;
    WindowSettings train, validation;
};

Windows windows_over(std::int64_t train, std::int64_t validation, std::int64_t batch_size, std::int64_t sequence_length,
                     std::uint64_t seed = 42) {
    const auto store = counting_store(train + validation);
    return {store,
            {{store, 0, train, 0, 0}, "counting", batch_size, sequence_length, seed},
            {{store, train, validation, 0, 0}, "counting", batch_size, sequence_length, seed}};
}

/// Checks that row r of a batch is a window of the counting text, targets one further or ignored; returns its start.
std::int32_t start_of_row(const Batch& batch, std::size_t row, std::size_t length) {
    const std::int32_t start = batch.inputs[row * length];
    for (std::size_t t = 0; t < length; ++t) {
        CHECK(batch.inputs[row * length + t] == start + static_cast<std::int32_t>(t));
        const std::int32_t target = batch.targets[row * length + t];
        if (is_scored(target)) CHECK(target == start + static_cast<std::int32_t>(t) + 1);
    }
    return start;
}

}  // namespace

TEST_CASE("B39: the target of a position is the next token and rows never mix") {
    const WindowSettings settings = windows_over(200, 50, 3, 7).train;
    for (const auto& source : {random_windows(settings), epoch_windows(settings)}) {
        std::set<std::int32_t> starts;
        for (std::int64_t i = 0; i < 40; ++i) {
            const Batch batch = batch_of(*source, i);
            for (std::size_t row = 0; row < 3; ++row) {
                const std::int32_t start = start_of_row(batch, row, 7);
                CHECK(start + 7 < 200);  // the last target is still of the training part
                starts.insert(start);
            }
        }
        CHECK(starts.size() > 25);
    }
    const Batch batch = batch_of(*random_windows(settings), 0);
    CHECK(std::none_of(batch.targets.begin(), batch.targets.end(), [](std::int32_t t) { return t == ignore_index; }));
}

TEST_CASE("B59: random windows reach every start, the last one too, about equally often") {
    const auto source = random_windows(windows_over(12, 20, 4, 8).train);
    std::map<std::int32_t, int> counts;
    constexpr int batches = 1000;
    for (std::int64_t i = 0; i < batches; ++i) {
        const Batch batch = batch_of(*source, i);
        for (std::size_t row = 0; row < 4; ++row) ++counts[batch.inputs[row * 8]];
    }
    REQUIRE(counts.size() == 4);  // n - T
    CHECK(counts.begin()->first == 0);
    CHECK(counts.rbegin()->first == 3);
    for (const auto& [start, count] : counts) CHECK(std::abs(count - batches) < 5 * std::sqrt(batches));
}

TEST_CASE("B59: token counts around the window length") {
    for (int tokens : {1, 7, 8}) {
        const WindowSettings settings = windows_over(tokens, 20, 2, 8).train;
        CHECK_THROWS_MESSAGE(
            random_windows(settings), DataError,
            "the training part has " + std::to_string(tokens) + " tokens; train.sequence_length 8 needs at least 9");
        CHECK_THROWS_MESSAGE(epoch_windows(settings), DataError, "counting: the training");
    }
    const WindowSettings one = windows_over(9, 20, 2, 8).train;  // exactly one window
    for (const auto& source : {random_windows(one), epoch_windows(one)}) {
        const Batch batch = batch_of(*source, 5);
        CHECK(start_of_row(batch, 0, 8) == 0);
        CHECK(start_of_row(batch, 1, 8) == 0);
        CHECK(batch.targets[7] == 8);
    }
    CHECK(epoch_windows(one)->rows_per_epoch() == 1);
    CHECK_THROWS_MESSAGE(validation_windows(windows_over(20, 8, 2, 8).validation, 1), DataError,
                         "the validation part has 8 tokens; train.sequence_length 8 needs at least 9");
    CHECK(validation_windows(windows_over(20, 9, 2, 8).validation, 1)->rows_per_epoch() == 1);
}

TEST_CASE("B59: an epoch holds each window and each target exactly once, whatever the batch size") {
    for (int tokens : {9, 10, 15, 16, 17, 18, 24, 25, 26, 100, 129, 200}) {
        for (std::int64_t batch_size : {1, 3, 4, 50}) {
            const auto source = epoch_windows(windows_over(tokens, 20, batch_size, 8).train);
            const std::int64_t windows = source->rows_per_epoch();
            CHECK(windows == (tokens - 1 + 7) / 8);
            // Three epochs, cut out of the stream of rows wherever the batches end.
            std::vector<std::map<std::int32_t, int>> seen(3);
            std::vector<std::set<std::int32_t>> starts(3);
            for (std::int64_t i = 0; i * batch_size < 3 * windows; ++i) {
                const Batch batch = batch_of(*source, i);
                for (std::int64_t row = 0; row < batch_size; ++row) {
                    const auto epoch = static_cast<std::size_t>((i * batch_size + row) / windows);
                    if (epoch >= 3) break;
                    starts[epoch].insert(start_of_row(batch, static_cast<std::size_t>(row), 8));
                    for (std::int64_t t = 0; t < 8; ++t) {
                        const std::int32_t target = batch.targets[static_cast<std::size_t>(row * 8 + t)];
                        if (is_scored(target)) ++seen[epoch][target];
                    }
                }
            }
            for (std::size_t epoch = 0; epoch < 3; ++epoch) {
                CHECK(starts[epoch].size() == static_cast<std::size_t>(windows));
                CHECK(*starts[epoch].rbegin() == tokens - 1 - 8);  // the last window ends with the text
                CHECK(seen[epoch].size() == static_cast<std::size_t>(tokens - 1));
                CHECK(std::all_of(seen[epoch].begin(), seen[epoch].end(), [](const auto& s) { return s.second == 1; }));
            }
        }
    }
}

TEST_CASE("epochs are shuffled, each in its own way, by the seed") {
    const auto order = [&](std::uint64_t seed, std::int64_t epoch) {
        const auto source = epoch_windows(windows_over(201, 20, 25, 8, seed).train);
        REQUIRE(source->rows_per_epoch() == 25);
        const Batch batch = batch_of(*source, epoch);
        std::vector<std::int32_t> starts;
        for (std::size_t row = 0; row < 25; ++row) starts.push_back(batch.inputs[row * 8]);
        return starts;
    };
    CHECK(order(1, 0) == order(1, 0));
    CHECK(order(1, 0) != order(1, 1));
    CHECK(order(1, 0) != order(2, 0));
    const auto first = order(1, 0);
    CHECK_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST_CASE("B65: a batch is a function of seed and step, whatever was asked before") {
    const WindowSettings settings = windows_over(200, 50, 4, 8).train;
    for (const auto& make : {random_windows, epoch_windows}) {
        const auto straight = make(settings), resumed = make(settings);
        for (std::int64_t i = 0; i < 10; ++i) batch_of(*straight, i);
        CHECK(batch_of(*straight, 10) == batch_of(*resumed, 10));
        CHECK(batch_of(*straight, 3) == batch_of(*resumed, 3));
        CHECK_FALSE(batch_of(*straight, 3) == batch_of(*straight, 4));

        WindowSettings half = settings, other = settings;
        half.batch_size = 2;
        other.seed = 43;
        CHECK_FALSE(batch_of(*make(other), 3) == batch_of(*straight, 3));
        // One batch of four rows is two of two: accumulation does not change the data.
        const auto halves = make(half);
        Batch joined = batch_of(*halves, 6);
        const Batch second = batch_of(*halves, 7);
        joined.inputs.insert(joined.inputs.end(), second.inputs.begin(), second.inputs.end());
        joined.targets.insert(joined.targets.end(), second.targets.begin(), second.targets.end());
        CHECK(joined == batch_of(*straight, 3));
    }
}

TEST_CASE("B59: validation windows start at every stride as long as a target is left, the last token included") {
    for (int tokens : {9, 10, 11, 17, 18, 40, 100}) {
        for (std::int64_t stride : {1, 3, 8, 30, 200}) {
            const auto source = validation_windows(windows_over(20, tokens, 3, 8).validation, stride);
            std::vector<std::int32_t> expected;
            for (std::int64_t start = 0; start + 8 < tokens; start += stride) {
                expected.push_back(20 + static_cast<std::int32_t>(start));  // the text counts on from the training part
            }
            REQUIRE(source->rows_per_epoch() == static_cast<std::int64_t>(expected.size()));
            std::vector<std::int32_t> found;
            for (std::int64_t i = 0; i < source->batches_per_epoch(); ++i) {
                const Batch batch = batch_of(*source, i);
                for (std::size_t row = 0; row < 3; ++row) {
                    const auto first = batch.targets.begin() + static_cast<std::ptrdiff_t>(row * 8);
                    const auto ignored = std::count(first, first + 8, ignore_index);
                    if (found.size() < expected.size()) {
                        CHECK(ignored == 0);
                        found.push_back(start_of_row(batch, row, 8));
                    } else {
                        CHECK(ignored == 8);
                        CHECK(batch.inputs[row * 8] == 0);
                    }
                }
            }
            CHECK(found == expected);
        }
    }
    const WindowSettings settings = windows_over(20, 100, 3, 8).validation;
    CHECK(validation_windows(settings, 0)->rows_per_epoch() == validation_windows(settings, 8)->rows_per_epoch());
}

TEST_CASE("windows ignore targets without loss, wherever the pieces end") {
    auto store = std::make_shared<TokenStore>(256);
    append_tokens_as<std::uint8_t>(*store, TokenType::uint8, {0, 1, 2, 3}, {0, 0, 1, 1});
    append_tokens_as<std::uint16_t>(*store, TokenType::uint16, {4, 5, 6, 7, 8}, {0, 1, 0, 1, 1});
    const auto source = epoch_windows({whole(store), "masked", 2, 4, 1});
    CHECK(source->rows_per_epoch() == 2);
    Batch batch = batch_of(*source, 0);
    std::set<std::int32_t> scored;
    for (std::size_t i = 0; i < 8; ++i) {
        if (is_scored(batch.targets[i])) scored.insert(batch.targets[i]);
    }
    CHECK(scored == std::set<std::int32_t>{2, 3, 5, 7, 8});
    CHECK(std::set<std::int32_t>(batch.inputs.begin(), batch.inputs.end()).size() == 8);
}

TEST_CASE("a batch that does not fit its buffers is refused") {
    const auto source = random_windows(windows_over(50, 20, 2, 8).train);
    std::vector<std::int32_t> right(16), wrong(15);
    CHECK_THROWS_MESSAGE(source->fill(0, wrong, right), DataError,
                         "2 x 8 inputs and as many targets, the buffers hold 15 and 16");
    CHECK_THROWS_MESSAGE(source->fill(0, right, wrong), DataError, "15");
    CHECK_THROWS_MESSAGE(source->fill(-1, right, right), DataError, "batch -1 does not exist");
}
