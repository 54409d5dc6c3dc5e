#include "data/open_data.hpp"

#include "causeway/error.hpp"
#include "data/batches.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

Config text_config(const std::string& path) {
    Config config;
    config.data.path = path;
    config.data.validation_fraction = 0.25;
    config.data.validation_stride = 4;
    config.train.batch_size = 2;
    config.train.sequence_length = 8;
    return config;
}

}  // namespace

TEST_CASE("open_data gives what section data asks for") {
    const TemporaryFolder folder;
    Config config = text_config(folder.write("text", counting_text(200)));
    DataSources data = open_data(config);
    CHECK(data.train->rows_per_epoch() == 0);
    CHECK(data.train->batch_size() == 2);
    CHECK(data.train->sequence_length() == 8);
    CHECK(data.validation->rows_per_epoch() == 11);  // range(0, 50 - 8 - 1, 4)
    CHECK(batch_of(*data.validation, 0).inputs[0] == 150);

    config.data.sampling = Sampling::epoch;
    data = open_data(config);
    CHECK(data.train->rows_per_epoch() == 19);  // ceil(149 / 8)

    for (DataSource task : {DataSource::repeat, DataSource::lookback_copy, DataSource::induction}) {
        config.data.source = task;
        data = open_data(config);
        CHECK(data.train->rows_per_epoch() == 0);
        CHECK(data.validation->rows_per_epoch() == 256);
        CHECK(data.validation->batches_per_epoch() == 128);
    }
}

TEST_CASE("the text stays open as long as one of its sources") {
    const TemporaryFolder folder;
    std::unique_ptr<BatchSource> validation;
    {
        DataSources data = open_data(text_config(folder.write("text", counting_text(200))));
        validation = std::move(data.validation);
    }
    CHECK(batch_of(*validation, 0).inputs[0] == 150);
}

TEST_CASE("B70 a missing text is refused and the message says how to get one") {
    CHECK_THROWS_MESSAGE(open_data(text_config("")), ConfigError, "data.path: is empty");
    CHECK_THROWS_MESSAGE(open_data(text_config("no/kjv.txt")), IoError, "no/kjv.txt: no such file");
    CHECK_THROWS_MESSAGE(open_data(text_config("no/kjv.txt")), IoError, "tools/get_kjv.sh");
    const TemporaryFolder folder;
    CHECK_THROWS_MESSAGE(open_data(text_config(folder.path())), IoError, "is a directory");
}
