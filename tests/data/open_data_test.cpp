#include "data/open_data.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "causeway/error.hpp"
#include "data/batches.hpp"
#include "data/small_tokenizer.hpp"
#include "data/tokens.hpp"
#include "io/data_files.hpp"
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

Config lines_config(const std::string& path, DataSource source) {
    Config config = text_config(path);
    config.model.vocab_size = 300;
    config.data.source = source;
    config.data.tokenizer = "small";
    config.data.packing = false;
    config.data.sampling = Sampling::epoch;
    return config;
}

std::string uint16_bytes(int first, int count) {
    std::string bytes;
    for (int i = first; i < first + count; ++i) {
        const auto token = static_cast<std::uint16_t>(i);
        bytes.append(reinterpret_cast<const char*>(&token), 2);
    }
    return bytes;
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
    CHECK(data.description == folder.file("text") + ", 150 tokens to train on, 50 to validate on");
    CHECK(data.bytes->count(std::vector<std::int32_t>{5, 200, ignore_index}) == 2);

    config.data.sampling = Sampling::epoch;
    data = open_data(config);
    CHECK(data.train->rows_per_epoch() == 19);  // ceil(149 / 8)

    for (DataSource task : {DataSource::repeat, DataSource::lookback_copy, DataSource::induction}) {
        config.data.source = task;
        data = open_data(config);
        CHECK(data.train->rows_per_epoch() == 0);
        CHECK(data.validation->rows_per_epoch() == 256);
        CHECK(data.validation->batches_per_epoch() == 128);
        CHECK(data.tokenizer == nullptr);
        CHECK(data.bytes == nullptr);
    }
}

TEST_CASE("the windows of the King James Bible's recipe are the reference's") {
    const TemporaryFolder folder;
    Config config = text_config(folder.write("text", ""));
    std::filesystem::resize_file(config.data.path, 4'137'850);
    config.data.validation_fraction = 0.1;
    config.data.validation_stride = 512;
    config.train.batch_size = 12;
    config.train.sequence_length = 64;
    const DataSources data = open_data(config);
    CHECK_THAT(data.description, contains("3724065 tokens to train on, 413785 to validate on"));
    CHECK(data.validation->rows_per_epoch() == 809);
    CHECK(data.validation->batches_per_epoch() == 68);
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

TEST_CASE("several files are one text in sorted order, with the separator between them") {
    const TemporaryFolder folder;
    folder.write("t/b.txt", std::string(40, 'b'));
    folder.write("t/a.txt", std::string(40, 'a'));
    folder.write("t/.hidden", "h");
    folder.write("t/sub/c.txt", "c");
    Config config = text_config(folder.file("t"));
    config.data.document_separator = "--";
    config.data.sampling = Sampling::epoch;
    config.data.validation_path = folder.write("v.txt", counting_text(30));
    for (const std::string& path : {folder.file("t"), folder.file("t/*.txt"), folder.file("t/?.txt")}) {
        config.data.path = path;
        const DataSources data = open_data(config);
        CHECK_THAT(data.description, contains(path + " (2 files), 82 tokens to train on + ") &&
                                         contains("v.txt, 30 tokens to validate on"));
        CHECK(data.train->rows_per_epoch() == 11);  // ceil(81 / 8)
        std::map<std::int32_t, int> seen;
        for (std::int64_t row = 0; row < 11; ++row) {
            const Batch batch = batch_of(*data.train, row / 2);
            for (std::size_t t = 0; t < 8; ++t) {
                const std::int32_t target = batch.targets[static_cast<std::size_t>(row % 2) * 8 + t];
                if (is_scored(target)) ++seen[target];
            }
        }
        CHECK(seen == std::map<std::int32_t, int>{{'a', 39}, {'-', 2}, {'b', 40}});
        CHECK(batch_of(*data.validation, 0).inputs[0] == 0);
    }
    config.data.path = folder.write("[x]*.txt", "abcdefghijklmnopqr");  // a name is not taken for a pattern
    CHECK_THAT(open_data(config).description, contains("[x]*.txt, 18 tokens"));
}

TEST_CASE("a text with a tokenizer is encoded as it is opened") {
    const TemporaryFolder folder;
    Config config =
        text_config(folder.write("text", std::string(100, 'x') + "\n\n<|endoftext|>" + std::string(98, 'y')));
    config.data.tokenizer = "small";
    config.model.vocab_size = 300;
    const DataSources data = open_data(config, small_tokenizer());
    CHECK_THAT(data.description, contains("text, 150 tokens to train on, 50 to validate on; encoded in "));
    CHECK(batch_of(*data.validation, 0).inputs[0] == 'y');
    CHECK(data.tokenizer->vocab_size() == 265);
    config.model.vocab_size = 264;
    CHECK_THROWS_MESSAGE(open_data(config, small_tokenizer()), ConfigError,
                         "model.vocab_size: found 264, expected at least 265, the number of tokens of small");
}

TEST_CASE("B58: token files: shards in order, mapped, a token outside the vocabulary when it is met") {
    const TemporaryFolder folder;
    folder.write("s/train_1.bin", uint16_bytes(0, 100));
    folder.write("s/train_2.bin", uint16_bytes(100, 100));
    folder.write("s/meta.pkl", "x");
    Config config = text_config(folder.file("s"));
    config.data.source = DataSource::tokens;
    config.model.vocab_size = 200;
    config.data.sampling = Sampling::epoch;
    DataSources data = open_data(config, nullptr);
    CHECK_THAT(data.description, contains("s (2 files), 150 tokens to train on, 50 to validate on"));
    CHECK(data.bytes == nullptr);
    CHECK(batch_of(*data.validation, 0).inputs ==
          std::vector<std::int32_t>{150, 151, 152, 153, 154, 155, 156, 157, 154, 155, 156, 157, 158, 159, 160, 161});
    config.model.vocab_size = 180;
    data = open_data(config, nullptr);
    CHECK_NOTHROW(batch_of(*data.train, 0));
    CHECK_THROWS_MESSAGE(batch_of(*data.validation, 3), DataError,
                         "s/train_2.bin: token 180 at position 80 is outside [0, 180), the range of vocab_size 180");
    folder.write("s/train_3.bin", "odd");
    CHECK_THROWS_MESSAGE(open_data(config, nullptr), IoError, "s/train_3.bin: has 3 bytes");
}

TEST_CASE("B58: a token file beyond 4 GiB is read where a window asks for it") {
    const TemporaryFolder folder;
    Config config = text_config(folder.write("large.bin", ""));
    constexpr std::uintmax_t tokens = (std::uintmax_t{5} << 29) + 40;
    std::error_code error;
    std::filesystem::resize_file(config.data.path, 2 * tokens, error);
    if (error) {
        WARN("the file system has no room for a sparse file of 5 GiB: not tested");
        SUCCEED();
        return;
    }
    std::fstream file(config.data.path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(2 * (tokens - 100)));
    file << uint16_bytes(0, 100);
    file.close();
    config.data.source = DataSource::tokens;
    config.data.sampling = Sampling::epoch;
    config.data.validation_fraction = 1e-8;
    const DataSources data = open_data(config, nullptr);
    const Batch batch = batch_of(*data.validation, 0);
    CHECK(batch.inputs[0] >= 100 - 28);
    CHECK(batch.inputs[0] <= 100 - 26);
    CHECK(batch.targets[15] == batch.inputs[0] + 12);  // two windows, 4 tokens apart
    CHECK(data.train->rows_per_epoch() > 300'000'000);
    CHECK(batch_of(*data.train, 150'000'000).targets[0] == 0);
}

TEST_CASE("documents a row: split by document, what is cut is said") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += "{\"text\": \"" + std::string(static_cast<std::size_t>(3 + 2 * i), 'a' + i) + "\"}\n";
    Config config = lines_config(folder.write("a.jsonl", text), DataSource::jsonl);
    const DataSources data = open_data(config, small_tokenizer());
    CHECK_THAT(data.description,
               contains("6 documents of 48 tokens to train on, 2 documents of 32 tokens to validate on") &&
                   contains("; 4 documents are cut after 9 tokens"));
    CHECK(data.train->rows_per_epoch() == 6);
    CHECK(data.validation->rows_per_epoch() == 2);
    CHECK(batch_of(*data.validation, 0).inputs[0] == 'g');
    CHECK(batch_of(*data.validation, 0).inputs[8] == 'h');

    config.data.packing = true;
    const DataSources packed = open_data(config, small_tokenizer());
    CHECK_THAT(packed.description, contains("60 tokens to train on, 20 to validate on"));
    CHECK(packed.train->rows_per_epoch() == 8);  // ceil(59 / 8)
}

TEST_CASE("a chat trains on what the assistant says, packed or not") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 8; ++i) {
        text += R"({"conversations": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "abc"}]})";
        text += "\n";
    }
    Config config = lines_config(folder.write("a.jsonl", text), DataSource::chat);
    config.train.sequence_length = 24;
    config.data.validation_stride = 0;
    const DataSources rows = open_data(config, small_tokenizer());
    const Batch row = batch_of(*rows.train, 0);
    // <|im_start|> u s e r \n q <|im_end|> \n <|im_start|> assistant\n a b c <|im_end|> \n
    CHECK(std::count_if(row.targets.begin(), row.targets.begin() + 24, is_scored) == 4);
    CHECK(row.targets[10] == 'a');
    CHECK(row.targets[13] == 257);
    CHECK_FALSE(is_scored(row.targets[14]));
    CHECK(row.inputs[16] == 0);

    config.data.packing = true;
    const DataSources packed = open_data(config, small_tokenizer());
    std::int64_t scored = 0;
    for (std::int64_t i = 0; i < packed.train->rows_per_epoch(); ++i) {
        const Batch batch = batch_of(*packed.train, i);
        scored += std::count_if(batch.targets.begin(), batch.targets.end(), is_scored);
    }
    CHECK(scored == 2 * 6 * 4);  // of two epochs
}

TEST_CASE("a mixture draws from its parts and is validated on all of them") {
    const TemporaryFolder folder;
    Config config = text_config("");
    config.data.mixture = {{folder.write("a.txt", std::string(400, 'a')), 3.0},
                           {folder.write("b.txt", std::string(200, 'b')), 1.0}};
    const DataSources data = open_data(config);
    CHECK_THAT(data.description,
               contains("75% ") && contains("a.txt, 300 tokens to train on, 100 to validate on + 25% "));
    CHECK(data.train->rows_per_epoch() == 0);
    int rows[2] = {0, 0};
    for (std::int64_t i = 0; i < 1000; ++i) {
        const Batch batch = batch_of(*data.train, i);
        for (const std::size_t row : {0u, 1u}) ++rows[batch.inputs[row * 8] == 'a' ? 0 : 1];
    }
    CHECK(std::abs(rows[0] - 1500) < 100);
    CHECK(data.validation->rows_per_epoch() == 23 + 11);  // range(0, 91, 4), range(0, 41, 4)
    CHECK(batch_of(*data.validation, 0).inputs[0] == 'a');
    CHECK(batch_of(*data.validation, 16).inputs[0] == 'b');
}

TEST_CASE("validation alone opens nothing else") {
    const TemporaryFolder folder;
    Config config = text_config("no/such/file");
    config.data.validation_path = folder.write("v.txt", counting_text(40));
    const DataSources data = open_validation(config);
    CHECK(data.train == nullptr);
    CHECK(data.validation->rows_per_epoch() == 8);
    CHECK(data.description == folder.file("v.txt") + ", 40 tokens to validate on");
    CHECK_THROWS_MESSAGE(open_data(config), IoError, "no/such/file: no such file (data.path");
    config.data.validation_path = "";
    config.data.path = folder.file("v.txt");
    CHECK(open_validation(config).train == nullptr);
    CHECK(open_validation(config).validation->rows_per_epoch() == 1);
}

TEST_CASE("B70: missing data are refused and the message says how to get some") {
    CHECK_THROWS_MESSAGE(open_data(text_config("")), ConfigError, "data.path: is empty");
    CHECK_THROWS_MESSAGE(open_data(text_config("no/kjv.txt")), IoError, "no/kjv.txt: no such file");
    CHECK_THROWS_MESSAGE(open_data(text_config("no/kjv.txt")), IoError, "tools/get_kjv.sh");
    const TemporaryFolder folder;
    CHECK_THROWS_MESSAGE(open_data(text_config(folder.file("*.txt"))), IoError, "*.txt: no file matches (data.path)");
    Config config = text_config(folder.path());
    CHECK_THROWS_MESSAGE(open_data(config), IoError, "the folder holds no file");
    config.data.source = DataSource::tokens;
    CHECK_THROWS_MESSAGE(open_data(config, nullptr), IoError, "the folder holds no file that ends in .bin or .npy");
    config.data.source = DataSource::text;
    config.data.path = folder.write("empty", "");
    CHECK_THROWS_MESSAGE(open_data(config), DataError, "empty: is empty, expected text");
    config.data.path = "";
    config.data.mixture = {{folder.write("a.txt", counting_text(100)), 1}, {"no.txt", 1}};
    CHECK_THROWS_MESSAGE(open_data(config), IoError, "no.txt: no such file (data.mixture[1].path");
}

TEST_CASE("the files that a config's data are read from") {
    const TemporaryFolder folder;
    DataConfig data;
    data.mixture = {{folder.write("d/b.txt", "b"), 1}, {folder.file("d/*"), 1}};
    folder.write("d/a.txt", "a");
    data.validation_path = folder.write("v.txt", "v");
    data.tokenizer = folder.path().string();
    folder.write("tokenizer_config.json", "{}");
    CHECK(data_files(data) == std::vector<std::string>{folder.file("d/a.txt"), folder.file("d/b.txt"),
                                                       folder.file("d/b.txt"), folder.file("tokenizer.json"),
                                                       folder.file("tokenizer_config.json"), folder.file("v.txt")});
    data.mixture = {{"no/such", 1}};
    CHECK(data_files(data).size() == 3);
    CHECK(data_files(DataConfig{}).empty());
}

TEST_CASE("a mapped file that becomes shorter is noticed, alone, among several and in a mixture") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("texts"));
    const auto write_all = [&] {
        for (const char* name : {"texts/a", "texts/b", "other"}) folder.write(name, std::string(100, 'x'));
        folder.write("tokens.bin", uint16_bytes(0, 100));
    };
    write_all();
    Config mixture = text_config("");
    mixture.data.path.clear();
    mixture.data.validation_stride = 0;
    mixture.data.mixture = {{folder.file("other"), 1.0}, {folder.file("texts"), 2.0}};
    Config tokens = text_config(folder.file("tokens.bin"));
    tokens.data.source = DataSource::tokens;
    for (const auto& [config, file] : {std::pair{text_config(folder.file("texts")), "texts/b"},
                                       std::pair{mixture, "texts/a"}, std::pair{tokens, "tokens.bin"}}) {
        write_all();
        const DataSources data = open_data(config);
        data.train->check_files();
        data.validation->check_files();
        std::filesystem::resize_file(folder.file(file), 50);
        CHECK_THROWS_MESSAGE(data.train->check_files(), IoError, "has become shorter while it was being read");
        CHECK_THROWS_MESSAGE(data.validation->check_files(), IoError, file);
    }
}
