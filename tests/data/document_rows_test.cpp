#include "data/document_rows.hpp"

#include <map>
#include <set>

#include "causeway/error.hpp"
#include "data/batches.hpp"
#include "data/stores.hpp"
#include "data/tokens.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

WindowSettings rows_over(std::shared_ptr<const TokenStore> store, std::int64_t batch_size, std::int64_t length,
                         std::uint64_t seed = 42) {
    return {whole(std::move(store)), "docs.jsonl", batch_size, length, seed};
}

using Row = std::vector<std::int32_t>;

Row inputs_of(const Batch& batch, std::size_t row, std::size_t length) {
    const auto begin = batch.inputs.begin() + static_cast<std::ptrdiff_t>(row * length);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

Row targets_of(const Batch& batch, std::size_t row, std::size_t length) {
    const auto begin = batch.targets.begin() + static_cast<std::ptrdiff_t>(row * length);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace

TEST_CASE("a document a row: cut after T + 1 tokens, padded, nothing of the next document") {
    // 100..: documents of 6, 5, 4, 3, 1 tokens; T is 4
    const auto store = store_of_documents({6, 5, 4, 3, 1});
    const auto source = validation_documents(rows_over(store, 2, 4));
    CHECK(source->rows_per_epoch() == 5);
    CHECK(source->batches_per_epoch() == 3);
    const Batch first = batch_of(*source, 0), second = batch_of(*source, 1), third = batch_of(*source, 2);
    constexpr std::int32_t no = ignore_index;
    CHECK(inputs_of(first, 0, 4) == Row{0, 1, 2, 3});
    CHECK(targets_of(first, 0, 4) == Row{1, 2, 3, 4});  // token 5 is cut off
    CHECK(inputs_of(first, 1, 4) == Row{6, 7, 8, 9});
    CHECK(targets_of(first, 1, 4) == Row{7, 8, 9, 10});
    CHECK(inputs_of(second, 0, 4) == Row{11, 12, 13, 14});
    CHECK(targets_of(second, 0, 4) == Row{12, 13, 14, no});
    CHECK(inputs_of(second, 1, 4) == Row{15, 16, 17, 0});
    CHECK(targets_of(second, 1, 4) == Row{16, 17, no, no});
    CHECK(inputs_of(third, 0, 4) == Row{18, 0, 0, 0});
    CHECK(targets_of(third, 0, 4) == Row{no, no, no, no});
    CHECK(targets_of(third, 1, 4) == Row{no, no, no, no});  // fills the batch
    CHECK(count_cut_documents(whole(store), 4) == 1);
    CHECK(count_cut_documents(whole(store), 5) == 0);
}

TEST_CASE("B59: an epoch of documents has each exactly once, in an order of its own") {
    const auto store = store_of_documents(std::vector<std::int64_t>(23, 3));
    for (const std::int64_t batch_size : {1, 4, 50}) {
        const auto source = epoch_documents(rows_over(store, batch_size, 2));
        CHECK(source->rows_per_epoch() == 23);
        std::vector<std::vector<std::int32_t>> order(3);
        for (std::int64_t row = 0; row < 69; ++row) {
            const Batch batch = batch_of(*source, row / batch_size);
            order[static_cast<std::size_t>(row / 23)].push_back(
                batch.inputs[static_cast<std::size_t>(row % batch_size) * 2]);
        }
        for (const auto& epoch : order) {
            const std::set<std::int32_t> seen(epoch.begin(), epoch.end());
            CHECK(seen.size() == 23);
            CHECK(*seen.rbegin() == 66);
        }
        CHECK(order[0] != order[1]);
    }
}

TEST_CASE("random documents reach each, and are a function of seed and row") {
    const auto store = store_of_documents({3, 3, 3, 3, 3});
    const auto source = random_documents(rows_over(store, 4, 2));
    CHECK(source->rows_per_epoch() == 0);
    std::map<std::int32_t, int> counts;
    for (std::int64_t i = 0; i < 250; ++i) {
        const Batch batch = batch_of(*source, i);
        for (std::size_t row = 0; row < 4; ++row) ++counts[batch.inputs[row * 2]];
    }
    REQUIRE(counts.size() == 5);
    for (const auto& [start, count] : counts) CHECK(std::abs(count - 200) < 75);
    CHECK(batch_of(*source, 7) == batch_of(*random_documents(rows_over(store, 4, 2)), 7));
    CHECK_FALSE(batch_of(*source, 7) == batch_of(*random_documents(rows_over(store, 4, 2, 43)), 7));
}

TEST_CASE("B59: a part without documents is refused") {
    const auto store = store_of_documents({3, 3});
    WindowSettings settings = rows_over(store, 1, 2);
    settings.tokens = split_documents(store, 0.9).train;
    REQUIRE(settings.tokens.documents == 0);
    CHECK_THROWS_MESSAGE(random_documents(settings), DataError, "docs.jsonl: the training part has no document");
    CHECK_THROWS_MESSAGE(epoch_documents(settings), DataError, "data.validation_fraction");
    CHECK_THROWS_MESSAGE(validation_documents(settings), DataError, "the validation part has no document");
}

TEST_CASE("B06 documents without a token to learn are refused before they are trained on") {
    // A token alone has no target.
    CHECK_THROWS_MESSAGE(epoch_documents(rows_over(store_of_documents({1, 1, 1}), 2, 4)), DataError,
                         "docs.jsonl: no row of the training part has a token to learn: each of its 3 documents");
    CHECK_NOTHROW(epoch_documents(rows_over(store_of_documents({1, 2, 1}), 2, 4)));
}
