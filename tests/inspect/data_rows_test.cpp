#include "inspect/data_rows.hpp"

#include <nlohmann/json.hpp>

#include "data/tokens.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

DataSample sample_of(const DataRow& row, bool text = true) {
    DataSample sample;
    sample.description = "some data";
    sample.batch_size = 2;
    sample.sequence_length = static_cast<std::int64_t>(row.inputs.size());
    sample.rows_per_epoch = 5;
    sample.validation_rows = 3;
    sample.rows = {row};
    if (text) sample.tokenizer = byte_tokenizer();
    return sample;
}

constexpr std::int32_t no = ignore_index;

}  // namespace

TEST_CASE("rows show which tokens carry loss") {
    const DataRow row{7, {'a', 'b', '\n', 'c', 'd', 0}, {no, '\n', 'c', no, no, no}};
    CHECK(data_sample_text(sample_of(row), {}) ==
          "some data\nbatches     2 x 6 tokens\ntraining    5 rows, 3 batches an epoch\n"
          "validation  3 rows, 2 batches an epoch\n\n"
          "row 7: 2 of 6 targets carry loss, 5 tokens, the rest is padding\n    ab{+\\n\n    c+}d\n");
    CHECK_THAT(data_sample_text(sample_of(row), {true, false}), contains("ab\x1b[32m\\n\n    c\x1b[0md\n"));
    CHECK_THAT(data_sample_text(sample_of(row), {false, true}), contains("\n    97 98 {+10 99+} 100 \n"));
    CHECK_THAT(data_sample_text(sample_of(row, false), {}), contains("\n    97 98 {+10 99+} 100 \n"));
}

TEST_CASE("what is no text and what could command a terminal is escaped") {
    const DataRow row{0, {0x1b, '[', '"', 0xC3, 0x7f, 0xC2, 0x9b}, {'[', '"', 0xC3, 0x7f, 0xC2, 0x9b, 'x'}};
    const std::string text = data_sample_text(sample_of(row), {});
    CHECK_THAT(text, contains("\\u001b{+[\"\xEF\xBF\xBD\\u007f\\u009bx+}"));
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("targets that are not the next inputs are shown beside them") {
    const DataRow row{0, {1, 2, 3}, {no, 1, 2}};
    CHECK_FALSE(row.is_shifted());
    CHECK_THAT(data_sample_text(sample_of(row), {}), contains("    inputs  1 2 3\n    targets . 1 2\n"));
}

TEST_CASE("rows as JSON have inputs, targets and text") {
    const DataRow row{1, {'h', 'i', 0xff}, {no, 0xff, no}};
    const auto json = nlohmann::json::parse(data_sample_json(sample_of(row)));
    CHECK(json.at("description") == "some data");
    CHECK(json.at("rows_per_epoch") == 5);
    CHECK(json.at("part") == "training");
    CHECK(json.at("rows")[0].at("targets") == std::vector<int>{-100, 255, -100});
    CHECK(json.at("rows")[0].at("scored") == 1);
    CHECK(json.at("rows")[0].at("text") == "hi\xEF\xBF\xBD");
    CHECK(json.at("rows")[0].at("loss_text") == "\xEF\xBF\xBD");
    CHECK_FALSE(nlohmann::json::parse(data_sample_json(sample_of(row, false))).at("rows")[0].contains("text"));
}

TEST_CASE("a sample holds the rows that training gets") {
    const TemporaryFolder folder;
    Config config;
    config.data.path = folder.write("a.txt", "0123456789abcdefghijklmnopqrstuvwxyz");
    config.data.sampling = Sampling::epoch;
    config.data.validation_fraction = 0.4;
    config.train.sequence_length = 5;
    const DataSample sample = sample_data(config, 3, 10, false);
    CHECK(sample.rows_per_epoch == 4);  // ceil(20 / 5)
    REQUIRE(sample.rows.size() == 1);   // as far as the epoch goes
    CHECK(sample.rows[0].number == 3);
    CHECK(sample_data(config, 0, 2, true).rows[0].inputs[0] == 'l');
    CHECK(sample_data(config, 9, 2, true).rows.empty());
    config.data.source = DataSource::repeat;
    config.data.path = "";
    CHECK(sample_data(config, 1000, 2, false).rows.size() == 2);
}
