#include "io/tokenizer/tokenize_files.hpp"

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "causeway/error.hpp"
#include "io/run_folder.hpp"
#include "io/token_file_writer.hpp"
#include "io/tokenizer/tokenizer_config.hpp"
#include "io/tokenizer/train_tokenizer.hpp"
#include "io/tokenizer_support.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
using test::encoded;
using test::golden;

namespace {

using Ids = std::vector<std::int32_t>;

Ids ids_of_files(const std::vector<std::string>& paths, const Tokenizer& tokenizer, const TokenizeOptions& options) {
    Ids ids;
    const TokenizeCounts counts = tokenize_files(paths, tokenizer, options, [&](std::span<const std::int32_t> part) {
        ids.insert(ids.end(), part.begin(), part.end());
    });
    CHECK(counts.tokens == ids.size());
    return ids;
}

/// The numbers of a file behind its header.
template <class T>
std::vector<T> numbers_of(const std::string& path, std::size_t header = 0) {
    const std::string bytes = content_of(path);
    REQUIRE(bytes.size() >= header);
    std::vector<T> numbers((bytes.size() - header) / sizeof(T));
    std::memcpy(numbers.data(), bytes.data() + header, numbers.size() * sizeof(T));
    return numbers;
}

}  // namespace

TEST_CASE("ids do not depend on where a text is cut, nor on threads") {
    const TemporaryFolder folder;
    test::Bytes random(3);
    for (const char* name : test::golden_names) {
        const auto tokenizer = golden(name);
        for (int round = 0; round < 12; ++round) {
            const std::string text = random.text(400), path = folder.write("text", text);
            const Ids whole = encoded(*tokenizer, text);
            for (const std::size_t chunk : {1u, 7u, 100u}) {
                TokenizeOptions options;
                options.chunk_bytes = chunk;
                options.threads = round % 3 + 1;
                INFO(name << ", chunks of " << chunk);
                REQUIRE(ids_of_files({path}, *tokenizer, options) == whole);
            }
        }
    }
}

TEST_CASE("every safe cut is safe") {
    test::Bytes random(5);
    std::size_t cuts = 0;
    for (const char* name : test::golden_names) {
        const auto tokenizer = golden(name);
        for (int round = 0; round < 300; ++round) {
            const std::string text = random.text(20);
            for (std::size_t from = 0;; ++cuts) {
                const auto cut = tokenizer->safe_cut(text, from);
                if (!cut) break;
                REQUIRE(*cut >= from);
                REQUIRE(*cut < text.size());
                Ids ids = encoded(*tokenizer, text.substr(0, *cut));
                tokenizer->encode(text.substr(*cut), ids);
                INFO(name << ": \"" << text << "\" at " << *cut);
                REQUIRE(ids == encoded(*tokenizer, text));
                from = *cut + 1;
            }
        }
    }
    CHECK(cuts > 500);
    // not where prefixes, stripping or unknown patterns are
    for (const char* name : {"other", "steps", "characters"}) CHECK(!golden(name)->safe_cut("a b c\nd", 0));
    for (const char* name : {"gpt2", "qwen", "minimind", "llama3"}) CHECK(golden(name)->safe_cut("a b c\nd", 0) == 1);
}

TEST_CASE("documents get their tokens around them") {
    const TemporaryFolder folder;
    const auto tokenizer = golden("minimind");
    const std::string one = folder.write("one", "In the beginning"), two = folder.write("two", "God"),
                      none = folder.write("none", "");
    TokenizeOptions options;
    options.start = 1;
    options.separator = 2;
    Ids expected{1};
    tokenizer->encode("In the beginning", expected);
    expected.insert(expected.end(), {2, 1});
    tokenizer->encode("God", expected);
    expected.push_back(2);
    CHECK(ids_of_files({one, none, two}, *tokenizer, options) == expected);

    options.jsonl = true;
    for (const std::size_t chunk : {1u, 30u, 100000u}) {
        options.chunk_bytes = chunk;
        const std::string lines = folder.write("lines.jsonl",
                                               "\xEF\xBB\xBF{\"text\": \"In the beginning\", \"x\": [1]}\r\n\n"
                                               "{\"text\": \"God\"}");
        CHECK(ids_of_files({lines}, *tokenizer, options) == expected);
    }
}

TEST_CASE("a line that has no text is named") {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& lines, const std::string& message) {
        TokenizeOptions options;
        options.jsonl = true;
        options.chunk_bytes = 4;
        options.threads = 2;
        const std::string path = folder.write("lines", lines);
        CHECK_THROWS_MESSAGE(ids_of_files({path}, *golden("gpt2"), options), DataError, message);
    };
    refused("{\"text\": \"a\"}\n\n{\"text\": 5}\n", "lines, line 3: \"text\" is no string");
    refused("{\"text\": \"a\"}\n{\"txt\": \"b\"}\n", "line 2: has no \"text\"");
    refused("{\"text\": \"a\"\n", "line 1: is no JSON object");
    TokenizeOptions options;
    CHECK_THROWS_MESSAGE(ids_of_files({folder.file("missing")}, *golden("gpt2"), options), IoError,
                         "missing: cannot open");
    CHECK_THROWS_MESSAGE(ids_of_files({folder.path().string()}, *golden("gpt2"), options), IoError, "cannot read");
}

TEST_CASE("token files have the formats of nanoGPT, llm.c and NumPy") {
    const TemporaryFolder folder;
    const Ids ids{5, 0, 40000};
    const auto write = [&](const std::string& name, TokenFormat format, std::int64_t vocab_size) {
        TokenFileWriter writer(folder.file(name), format, vocab_size);
        writer.write(std::span(ids).first(1));
        writer.write(std::span(ids).subspan(1));
        CHECK(!std::filesystem::exists(folder.file(name)));
        writer.finish();
        CHECK(writer.files() == std::vector<std::string>{folder.file(name)});
        return folder.file(name);
    };
    using U16 = std::vector<std::uint16_t>;
    using U32 = std::vector<std::uint32_t>;
    CHECK(numbers_of<std::uint16_t>(write("a.bin", TokenFormat::nanogpt, 65536)) == U16{5, 0, 40000});
    const std::string small = write("b.bin", TokenFormat::llmc, 50257),
                      large = write("c.bin", TokenFormat::llmc, 70000);
    CHECK(numbers_of<std::uint16_t>(small, 1024) == U16{5, 0, 40000});
    CHECK(numbers_of<std::uint32_t>(large, 1024) == U32{5, 0, 40000});
    const auto start_of = [](const std::string& file) {
        const auto header = numbers_of<std::int32_t>(file);
        return Ids(header.begin(), header.begin() + 4);
    };
    CHECK(start_of(small) == Ids{20240520, 1, 3, 0});
    CHECK(start_of(large) == Ids{20240801, 7, 3, 0});
    const std::string npy = content_of(write("d.npy", TokenFormat::npy, 50257));
    CHECK(npy.size() == 128 + 6);
    CHECK(npy.substr(10, 60) == "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }   ");
    CHECK_THAT(content_of(write("e.npy", TokenFormat::npy, 70000)), contains("'<u4'"));

    CHECK_THROWS_MESSAGE(TokenFileWriter(folder.file("f"), TokenFormat::nanogpt, 65537), ConfigError,
                         "nanogpt has room for ids below 65536, the vocabulary has 65537");
    TokenFileWriter writer(folder.file("g"), TokenFormat::nanogpt, 100);
    CHECK_THROWS_MESSAGE(writer.write(ids), DataError, "token 40000 at position 2 is outside [0, 100)");
}

TEST_CASE("shards hold so many tokens each") {
    const TemporaryFolder folder;
    TokenFileWriter writer(folder.file("x.bin"), TokenFormat::nanogpt, 100, 4);
    Ids ids;
    for (std::int32_t i = 0; i < 10; ++i) ids.push_back(i);
    writer.write(std::span(ids).first(3));
    writer.write(std::span(ids).subspan(3));
    writer.finish();
    REQUIRE(writer.files().size() == 3);
    CHECK(writer.files()[0] == folder.file("x_000000.bin"));
    CHECK(numbers_of<std::uint16_t>(writer.files()[1]) == std::vector<std::uint16_t>{4, 5, 6, 7});
    CHECK(numbers_of<std::uint16_t>(writer.files()[2]) == std::vector<std::uint16_t>{8, 9});
}

TEST_CASE("a trained tokenizer is the same every time and encodes any text") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 200; ++i) text += "the earth was without form, and void; and the light 12\n";
    const std::string path = folder.write("text", text);
    TrainTokenizerOptions options;
    options.vocab_size = 300;
    options.special_tokens = {"<|endoftext|>", "form"};
    for (const char* pattern : {"gpt2", "qwen", "llama3", "\\w+|\\W"}) {
        options.pattern = pattern;
        options.threads = 1;
        const TrainedTokenizer trained = train_tokenizer({path}, options);
        options.threads = 3;
        CHECK(train_tokenizer({path}, options).json == trained.json);
        CHECK(trained.bytes == text.size());
        const auto tokenizer = parse_tokenizer(trained.json, "trained");
        CHECK(tokenizer->vocab_size() == trained.vocab_size);
        CHECK(tokenizer->vocab_size() <= 300);
        CHECK(tokenizer->find("<|endoftext|>") == 0);
        const Ids ids = encoded(*tokenizer, text + "\xFF caf\u00e9");
        CHECK(ids.size() < text.size() / 2);
        std::string back;
        tokenizer->decode(ids, back);
        CHECK(back == text + "\xFF caf\u00e9");
    }
}

TEST_CASE("merges are learned by count, then by ids") {
    const TemporaryFolder folder;
    TrainTokenizerOptions options;
    options.vocab_size = 258;
    // "ab" 4 times, "cd" and "ce" 3 times each: the lower id goes first
    const std::string path = folder.write("text", "ab ab ab ab cd cd cd ce ce ce");
    options.pattern = "[a-e]+| ";
    const auto merges = nlohmann::json::parse(train_tokenizer({path}, options).json)["model"]["merges"];
    CHECK(merges == nlohmann::json{"a b", "c d"});
    options.vocab_size = 400;
    options.min_frequency = 4;
    CHECK(train_tokenizer({path}, options).vocab_size == 257);
    options.vocab_size = 255;
    CHECK_THROWS_MESSAGE(train_tokenizer({path}, options), ConfigError, "vocab_size: found 255, expected 256");
    options.vocab_size = 300;
    options.special_tokens = {"a"};
    CHECK_THROWS_MESSAGE(train_tokenizer({path}, options), ConfigError, "\"a\" is how a byte is written");
    options.special_tokens = {};
    options.pattern = "[a";
    CHECK_THROWS_MESSAGE(train_tokenizer({path}, options), ConfigError, "a set without end");
}

TEST_CASE("a run's folder gets the tokenizer of its data") {
    const TemporaryFolder folder;
    const std::string original = folder.write("gpt2/tokenizer.json", content_of(test::golden_path("gpt2")));
    folder.write("gpt2/tokenizer_config.json", "{}");
    const RunFolder run{folder.file("run")};
    make_folder(run.folder);
    copy_tokenizer("", run);
    CHECK(!std::filesystem::exists(run.tokenizer()));
    copy_tokenizer(folder.file("gpt2"), run);
    CHECK(content_of(run.tokenizer()) == content_of(original));
    CHECK(content_of(folder.file("run/tokenizer_config.json")) == "{}");
    copy_tokenizer(run.folder, run);  // its own
    CHECK(content_of(run.tokenizer()) == content_of(original));
    std::filesystem::remove_all(folder.file("gpt2"));
    copy_tokenizer(folder.file("gpt2"), run);  // the copy is still there
    CHECK(content_of(run.tokenizer()).size() > 1000);
    std::filesystem::remove(run.tokenizer());
    CHECK_THROWS_MESSAGE(copy_tokenizer(folder.file("gpt2"), run), IoError, "gpt2: cannot open");
}

TEST_CASE("tokenizer_config.json names the tokens that end a text") {
    const TemporaryFolder folder;
    const std::string tokenizer = folder.file("tokenizer.json");
    CHECK(!read_tokenizer_config(tokenizer).eos);
    folder.write("tokenizer_config.json", R"({"eos_token": "</s>"})");
    CHECK(read_tokenizer_config(tokenizer).eos == "</s>");
    folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<s>"}})");
    CHECK(read_tokenizer_config(tokenizer).eos == "<s>");
    folder.write("tokenizer_config.json", R"({"eos_token": null})");
    CHECK(!read_tokenizer_config(tokenizer).eos);
    folder.write("tokenizer_config.json", "nonsense");
    CHECK_THROWS_MESSAGE(read_tokenizer_config(tokenizer), IoError, "is no JSON object");
}
