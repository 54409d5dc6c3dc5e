#include <algorithm>
#include <map>
#include <set>

#include "causeway/error.hpp"
#include "data/batches.hpp"
#include "data/task.hpp"
#include "data/tokens.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

Config task_config(DataSource source, std::int64_t vocab_size, std::int64_t batch_size, std::int64_t sequence_length) {
    Config config;
    config.data.source = source;
    config.model.vocab_size = vocab_size;
    config.train.batch_size = batch_size;
    config.train.sequence_length = sequence_length;
    config.train.seed = 42;
    return config;
}

}  // namespace

TEST_CASE("S1-17..21 a repeat row is one random token, everywhere") {
    const auto source = task_rows(task_config(DataSource::repeat, 64, 16, 12));
    CHECK(source->rows_per_epoch() == 0);
    std::map<std::int32_t, int> counts;
    constexpr int batches = 400;
    for (std::int64_t i = 0; i < batches; ++i) {
        const Batch batch = batch_of(*source, i);
        CHECK(batch.inputs == batch.targets);
        for (std::size_t row = 0; row < 16; ++row) {
            const auto first = batch.inputs.begin() + static_cast<std::ptrdiff_t>(row * 12);
            CHECK(std::count(first, first + 12, *first) == 12);
            ++counts[*first];
        }
    }
    CHECK(counts.size() == 64);
    CHECK(counts.begin()->first == 0);
    CHECK(counts.rbegin()->first == 63);
    for (const auto& [id, count] : counts) CHECK(std::abs(count - 100) < 50);
}

TEST_CASE("a lookback_copy target is the token a fixed distance back") {
    for (std::int64_t lookback : {1, 3, 9}) {
        Config config = task_config(DataSource::lookback_copy, 20, 4, 10);
        config.data.lookback = lookback;
        const Batch batch = batch_of(*task_rows(config), 2);
        CHECK_NOTHROW(check_tokens(batch.inputs, 20, "inputs"));
        for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
            const auto t = static_cast<std::int64_t>(i % 10);
            CHECK(batch.targets[i] ==
                  (t < lookback ? ignore_index : batch.inputs[i - static_cast<std::size_t>(lookback)]));
        }
        CHECK(std::set<std::int32_t>(batch.inputs.begin(), batch.inputs.end()).size() > 10);
    }
    for (std::int64_t wrong : {-1, 0, 10, 11}) {
        Config config = task_config(DataSource::lookback_copy, 20, 4, 10);
        config.data.lookback = wrong;
        CHECK_THROWS_MESSAGE(
            task_rows(config), ConfigError,
            "data.lookback: found " + std::to_string(wrong) + ", expected 1 to 9 (train.sequence_length - 1)");
    }
}

TEST_CASE("an induction target is what followed this token before, and no fixed distance gives it") {
    for (std::int64_t length : {4, 5, 8, 17, 32}) {
        const std::int64_t vocab_size = std::max<std::int64_t>(length / 2, 3);
        const auto source = task_rows(task_config(DataSource::induction, vocab_size, 8, length));
        std::set<std::int64_t> periods;
        for (std::int64_t i = 0; i < 30; ++i) {
            const Batch batch = batch_of(*source, i);
            CHECK_NOTHROW(check_tokens(batch.inputs, vocab_size, "inputs"));
            CHECK_NOTHROW(check_targets(batch.targets, vocab_size, "targets"));
            for (std::size_t row = 0; row < 8; ++row) {
                const std::int32_t* x = batch.inputs.data() + row * static_cast<std::size_t>(length);
                const std::int32_t* y = batch.targets.data() + row * static_cast<std::size_t>(length);
                std::int64_t scored = 0;
                for (std::int64_t t = 0; t < length; ++t) {
                    // All that the row itself says about the next token: what followed earlier ones like this.
                    std::set<std::int32_t> followers;
                    for (std::int64_t s = 0; s + 1 <= t; ++s) {
                        if (x[s] == x[t]) followers.insert(x[s + 1]);
                    }
                    CHECK(followers.size() <= 1);
                    CHECK(y[t] == (followers.empty() ? ignore_index : *followers.begin()));
                    if (is_scored(y[t]) && t + 1 < length) CHECK(y[t] == x[t + 1]);
                    scored += is_scored(y[t]);
                }
                CHECK(scored >= length / 2);
                periods.insert(length - scored);
            }
        }
        const std::int64_t shortest = std::max<std::int64_t>(2, length / 4);
        CHECK(*periods.begin() == shortest);
        CHECK(*periods.rbegin() == length / 2);
        CHECK(periods.size() == static_cast<std::size_t>(length / 2 - shortest + 1));
    }
    CHECK_THROWS_MESSAGE(task_rows(task_config(DataSource::induction, 64, 1, 3)), ConfigError,
                         "train.sequence_length: found 3");
    CHECK_THROWS_MESSAGE(task_rows(task_config(DataSource::induction, 15, 1, 32)), ConfigError,
                         "model.vocab_size: found 15, the induction task needs at least 16");
}

TEST_CASE("B65: task rows are functions of seed and row") {
    for (const TaskEntry& task : built_in_tasks()) {
        const Config config = task_config(task.source, 64, 4, 12);
        const auto source = task_rows(config), again = task_rows(config);
        for (std::int64_t i = 0; i < 5; ++i) batch_of(*source, i);
        CHECK(batch_of(*source, 3) == batch_of(*again, 3));
        CHECK_FALSE(batch_of(*source, 3) == batch_of(*source, 4));
        Config other = config, wide = config;
        other.train.seed = 43;
        wide.train.batch_size = 8;
        CHECK_FALSE(batch_of(*task_rows(other), 3) == batch_of(*source, 3));
        Batch joined = batch_of(*source, 2);
        const Batch second = batch_of(*source, 3);
        joined.inputs.insert(joined.inputs.end(), second.inputs.begin(), second.inputs.end());
        joined.targets.insert(joined.targets.end(), second.targets.begin(), second.targets.end());
        CHECK(joined == batch_of(*task_rows(wide), 1));
    }
}

TEST_CASE("tasks are validated on rows of their own, the last batch filled up with ignored ones") {
    for (const TaskEntry& task : built_in_tasks()) {
        const Config config = task_config(task.source, 64, 4, 12);
        const auto validation = task_validation_rows(config, 10);
        CHECK(validation->rows_per_epoch() == 10);
        CHECK(validation->batches_per_epoch() == 3);
        CHECK_FALSE(batch_of(*validation, 0) == batch_of(*task_rows(config), 0));
        const Batch last = batch_of(*validation, 2);
        const auto half = last.targets.begin() + 2 * 12;
        CHECK(std::any_of(last.targets.begin(), half, is_scored));
        CHECK(std::none_of(half, last.targets.end(), is_scored));
        CHECK_NOTHROW(check_tokens(last.inputs, 64, "inputs"));
    }
}

TEST_CASE("every task has a name and a summary of its own") {
    std::set<std::string_view> names;
    for (const TaskEntry& task : built_in_tasks()) {
        names.insert(task.name);
        CHECK_FALSE(task.summary.empty());
        CHECK(find_task(task.source)->name == task.name);
    }
    CHECK(names == std::set<std::string_view>{"repeat", "lookback_copy", "induction"});
    CHECK(find_task(DataSource::text) == nullptr);
}
