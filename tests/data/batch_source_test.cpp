#include "data/batch_source.hpp"

#include <algorithm>
#include <vector>

#include "causeway/error.hpp"
#include "data/tokens.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// Rows of two tokens: row r is 10 r, 10 r + 1, its targets one more.
class NumberedRows final : public BatchSource {
  public:
    NumberedRows() : BatchSource(4, 2) {}

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        for (std::size_t t = 0; t < 2; ++t) {
            inputs[t] = static_cast<std::int32_t>(10 * row) + static_cast<std::int32_t>(t);
            targets[t] = inputs[t] + 1;
        }
    }
};

using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("B39: batch i is rows i*B on, whichever way it is asked for") {
    const NumberedRows source;
    Tokens inputs(8), targets(8), same_inputs(8), same_targets(8);
    source.fill(1, inputs, targets);
    CHECK(inputs == Tokens{40, 41, 50, 51, 60, 61, 70, 71});
    CHECK(targets == Tokens{41, 42, 51, 52, 61, 62, 71, 72});
    source.fill_rows(4, 4, same_inputs, same_targets);
    CHECK(same_inputs == inputs);
    CHECK(same_targets == targets);
}

TEST_CASE("B08: a short batch has its rows, and the same again with nothing to learn from them") {
    const NumberedRows source;
    constexpr std::int32_t none = ignore_index;
    Tokens inputs(8), targets(8);
    source.fill_rows(5, 3, inputs, targets);
    CHECK(inputs == Tokens{50, 51, 60, 61, 70, 71, 50, 51});
    CHECK(targets == Tokens{51, 52, 61, 62, 71, 72, none, none});
    source.fill_rows(2, 1, inputs, targets);
    CHECK(inputs == Tokens{20, 21, 20, 21, 20, 21, 20, 21});
    CHECK(targets == Tokens{21, 22, none, none, none, none, none, none});
}

TEST_CASE("rows that cannot be are refused") {
    const NumberedRows source;
    Tokens right(8), wrong(7);
    CHECK_THROWS_MESSAGE(source.fill_rows(-1, 1, right, right), DataError, "row -1 does not exist");
    for (const std::int64_t count : {0, -1, 5}) {
        CHECK_THROWS_MESSAGE(source.fill_rows(0, count, right, right), DataError, "expected 1 to 4");
    }
    CHECK_THROWS_MESSAGE(source.fill_rows(0, 1, wrong, right), DataError, "the buffers hold 7 and 8");
}
