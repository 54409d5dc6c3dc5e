#include "data/mixture.hpp"

#include <map>
#include <numeric>
#include <set>

#include "causeway/error.hpp"
#include "data/batches.hpp"
#include "data/document_rows.hpp"
#include "data/stores.hpp"
#include "data/tokens.hpp"
#include "data/window_sources.hpp"
#include "support/catch.hpp"
#include "train/allocation_counter.hpp"

using namespace causeway;

namespace {

/// Windows of 2 of the tokens first .. first + 2 windows.
std::unique_ptr<BatchSource> epochs_over(std::int64_t first, std::int64_t windows, std::int64_t batch_size,
                                         std::uint64_t seed = 1) {
    auto store = std::make_shared<TokenStore>(1 << 20);
    append_counting<std::uint32_t>(*store, TokenType::uint32, first, 2 * windows + 1);
    return epoch_windows({whole(store), "memory", batch_size, 2, seed});
}

std::unique_ptr<BatchSource> three_parts(std::int64_t batch_size, std::uint64_t seed) {
    std::vector<std::unique_ptr<BatchSource>> parts;
    for (std::size_t i = 0; i < 3; ++i) {
        parts.push_back(
            epochs_over(static_cast<std::int64_t>(10'000 * i), i == 2 ? 7 : 4000, batch_size, seed_of_part(seed, i)));
    }
    return mixture_rows(std::move(parts), {0.5, 0.2, 0.3}, seed);
}

}  // namespace

TEST_CASE("shares are rounded by largest remainder and add up") {
    CHECK(apportion({1, 1, 1}, 10) == std::vector<std::int64_t>{4, 3, 3});
    CHECK(apportion({0.7, 0.3}, 10'000) == std::vector<std::int64_t>{7000, 3000});
    CHECK(apportion({2}, 10) == std::vector<std::int64_t>{10});
    CHECK(apportion({1, 999'999}, 100) == std::vector<std::int64_t>{0, 100});
    for (const auto& weights : {std::vector<double>{1, 2, 3.5, 0.01}, std::vector<double>{1e-3, 1e9}}) {
        const auto shares = apportion(weights, 777);
        CHECK(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == 777);
    }
}

TEST_CASE("B59: a mixture gives each part its share, and each part its own epochs") {
    const auto source = three_parts(10, 5);
    CHECK(source->rows_per_epoch() == 0);
    std::map<int, std::int64_t> rows;
    std::map<int, std::map<std::int32_t, int>> starts;
    for (std::int64_t i = 0; i < 2 * mixture_block / 10; ++i) {
        const Batch batch = batch_of(*source, i);
        for (std::size_t row = 0; row < 10; ++row) {
            const std::int32_t start = batch.inputs[row * 2];
            ++rows[start / 10'000];
            ++starts[start / 10'000][start];
            CHECK(batch.targets[row * 2 + 1] == start + 2);  // rows never mix
        }
        // The first tenth already looks like the whole.
        if (i == 99) CHECK(std::abs(rows[0] - 500) < 100);
    }
    CHECK(rows[0] == 10'000);
    CHECK(rows[1] == 4000);
    CHECK(rows[2] == 6000);
    // 10000 rows of 4000 windows are two and a half epochs, 4000 are one, 6000 of 7 are 857 and a row.
    for (const auto& [start, count] : starts[0]) CHECK((count == 2 || count == 3));
    for (const auto& [start, count] : starts[1]) CHECK(count == 1);
    for (const auto& [start, count] : starts[2]) CHECK((count == 857 || count == 858));
    CHECK(starts[0].size() == 4000);
    CHECK(starts[1].size() == 4000);
    CHECK(starts[2].size() == 7);
}

TEST_CASE("B65: a row of a mixture is a function of seed and number") {
    const auto straight = three_parts(4, 5), resumed = three_parts(4, 5), halves = three_parts(2, 5);
    for (std::int64_t i = 0; i < 10; ++i) batch_of(*straight, i);
    CHECK(batch_of(*straight, 2600) == batch_of(*resumed, 2600));  // in the second block
    Batch joined = batch_of(*halves, 5200);
    const Batch second = batch_of(*halves, 5201);
    joined.inputs.insert(joined.inputs.end(), second.inputs.begin(), second.inputs.end());
    joined.targets.insert(joined.targets.end(), second.targets.begin(), second.targets.end());
    CHECK(joined == batch_of(*straight, 2600));
    CHECK_FALSE(batch_of(*three_parts(4, 6), 2600) == batch_of(*straight, 2600));
}

TEST_CASE("a weight that gives no row is refused by name") {
    std::vector<std::unique_ptr<BatchSource>> parts;
    parts.push_back(epochs_over(0, 4, 1));
    parts.push_back(epochs_over(0, 4, 1));
    CHECK_THROWS_MESSAGE(mixture_rows(std::move(parts), {1e6, 1}, 1), DataError,
                         "data.mixture[1].weight: 1 is less than a row in 10000");
}

TEST_CASE("rows in turn are each part's epoch, then padding") {
    std::vector<std::unique_ptr<BatchSource>> parts;
    parts.push_back(epochs_over(0, 3, 4));
    parts.push_back(epochs_over(1000, 2, 4));
    const auto source = rows_in_turn(std::move(parts));
    CHECK(source->rows_per_epoch() == 5);
    CHECK(source->batches_per_epoch() == 2);
    std::set<std::int32_t> starts;
    for (std::int64_t i = 0; i < 2; ++i) {
        const Batch batch = batch_of(*source, i);
        for (std::size_t row = 0; row < 4; ++row) {
            if (is_scored(batch.targets[row * 2])) starts.insert(batch.inputs[row * 2]);
        }
    }
    CHECK(starts == std::set<std::int32_t>{0, 2, 4, 1000, 1002});
}

TEST_CASE("filling a batch allocates nothing, whatever it is made of") {
    if (!allocation_counter::counts()) return;
    std::vector<std::unique_ptr<BatchSource>> parts;
    auto masked = std::make_shared<TokenStore>(1000);
    for (int document = 0; document < 30; ++document) {
        masked->begin_document();
        append_tokens_as<std::uint16_t>(*masked, TokenType::uint16, {1, 2, 3, 4}, {0, 1, 1, 0});
    }
    parts.push_back(epochs_over(0, 5, 8));
    parts.push_back(random_windows({whole(masked), "masked", 8, 2, 1}));
    parts.push_back(epoch_documents({whole(masked), "masked", 8, 2, 1}));
    const auto source = mixture_rows(std::move(parts), {1, 1, 1}, 1);
    std::vector<std::int32_t> inputs(16), targets(16);
    allocation_counter::start();
    for (std::int64_t batch = 0; batch < 100; ++batch) source->fill(batch, inputs, targets);
    CHECK(allocation_counter::stop().own == 0);
}
