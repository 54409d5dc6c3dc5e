#include "data/token_store.hpp"

#include "causeway/error.hpp"
#include "data/stores.hpp"
#include "data/tokens.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

std::vector<std::int32_t> copied(const TokenStore& store, std::int64_t first, std::int64_t count) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(count), -7);
    store.copy(first, out);
    return out;
}

}  // namespace

TEST_CASE("tokens of all widths are read as one sequence, whatever range is asked for") {
    TokenStore store(1000);
    append_counting<std::uint8_t>(store, TokenType::uint8, 0, 5);
    append_counting<std::uint16_t>(store, TokenType::uint16, 5, 1);
    append_tokens_as<std::uint16_t>(store, TokenType::uint16, {});  // leaves no trace
    append_counting<std::uint32_t>(store, TokenType::uint32, 6, 7);
    append_counting<std::int32_t>(store, TokenType::int32, 13, 4);
    append_counting<std::int64_t>(store, TokenType::int64, 17, 6);
    REQUIRE(store.size() == 23);
    for (std::int64_t first = 0; first <= 23; ++first) {
        for (std::int64_t count = 0; first + count <= 23; ++count) {
            const std::vector<std::int32_t> out = copied(store, first, count);
            for (std::int64_t i = 0; i < count; ++i) CHECK(out[static_cast<std::size_t>(i)] == first + i);
        }
    }
}

TEST_CASE("B58: a token outside the vocabulary is refused with file, value and position when it is read") {
    TokenStore store(300);
    append_counting<std::uint16_t>(store, TokenType::uint16, 0, 10);
    append_tokens_as<std::uint16_t>(store, TokenType::uint16, {5, 299, 300, 65535}, {}, "b.bin");
    append_tokens_as<std::uint32_t>(store, TokenType::uint32, {4'294'967'295}, {}, "c.bin");
    append_tokens_as<std::int32_t>(store, TokenType::int32, {-1}, {}, "d.npy");
    append_tokens_as<std::int64_t>(store, TokenType::int64, {7, std::int64_t{1} << 32}, {}, "e.npy");
    append_tokens_as<std::int64_t>(store, TokenType::int64, {-100}, {}, "f.npy");
    CHECK(copied(store, 0, 12).back() == 299);  // those before it can be read
    CHECK_THROWS_MESSAGE(copied(store, 0, 13), DataError,
                         "b.bin: token 300 at position 2 is outside [0, 300), the range of vocab_size 300");
    CHECK_THROWS_MESSAGE(copied(store, 13, 1), DataError, "b.bin: token 65535 at position 3");
    CHECK_THROWS_MESSAGE(copied(store, 14, 1), DataError, "c.bin: token 4294967295 at position 0");
    CHECK_THROWS_MESSAGE(copied(store, 15, 1), DataError, "d.npy: token -1 at position 0");
    CHECK_THROWS_MESSAGE(copied(store, 16, 2), DataError, "e.npy: token 4294967296 at position 1");
    CHECK_THROWS_MESSAGE(copied(store, 18, 1), DataError, "f.npy: token -100 at position 0");
}

TEST_CASE("targets that carry no loss are ignored, across pieces with and without a mask") {
    TokenStore store(100);
    append_counting<std::uint8_t>(store, TokenType::uint8, 0, 3);
    append_tokens_as<std::uint8_t>(store, TokenType::uint8, {3, 4, 5, 6}, {1, 0, 0, 1});
    append_counting<std::uint16_t>(store, TokenType::uint16, 7, 2);
    std::vector<std::int32_t> targets(8);
    store.copy_targets(1, targets);
    CHECK(targets == std::vector<std::int32_t>{1, 2, 3, ignore_index, ignore_index, 6, 7, 8});
    CHECK(copied(store, 1, 8) == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("the split of documents is by document, that of tokens by position") {
    const auto store = store_of_documents({4, 1, 5, 2});
    CHECK(store->size() == 12);
    const TokenSplit documents = split_documents(store, 0.5);
    CHECK(documents.train.documents == 2);
    CHECK(documents.train.size == 5);
    CHECK(documents.validation.first == 5);
    CHECK(documents.validation.first_document == 2);
    CHECK(documents.validation.documents == 2);
    CHECK(documents.validation.size == 7);
    const TokenSplit none = split_documents(store, 0.01);  // floor(0.99 * 4) = 3
    CHECK(none.validation.documents == 1);
    CHECK(split_tokens(store, 0.25).train.size == 9);
    CHECK(whole(store).documents == 4);
    CHECK(whole(store).size == 12);
}
