#include "io/tokenizer/tokenizer.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "causeway/error.hpp"
#include "io/tokenizer_support.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
using test::encoded;
using test::golden;
using test::golden_names;

TEST_CASE("tokenizers give the ids and texts of the tokenizers package") {
    std::ifstream file(std::string(CAUSEWAY_TESTS_DIR) + "/golden/tokenizers/strings.json");
    const auto all = nlohmann::json::parse(file);
    const auto strings = all.at("strings").get<std::vector<std::string>>();
    REQUIRE(all.at("tokenizers").size() == golden_names.size());
    for (const auto& [name, expected] : all.at("tokenizers").items()) {
        const auto tokenizer = golden(name);
        CHECK(tokenizer->vocab_size() == expected.at("vocab_size").get<std::int64_t>());
        for (std::size_t i = 0; i < strings.size(); ++i) {
            INFO(name << ": \"" << strings[i] << "\"");
            const auto ids = expected.at("ids").at(i).get<std::vector<std::int32_t>>();
            CHECK(encoded(*tokenizer, strings[i]) == ids);
            std::string text;
            tokenizer->decode(ids, text);
            CHECK(text == expected.at("decoded").at(i).get<std::string>());
        }
    }
}

TEST_CASE("a text without normalizer survives encoding, whatever its bytes are") {
    test::Bytes random(7);
    for (const char* name : {"gpt2", "minimind", "llama3"}) {
        const auto tokenizer = golden(name);
        for (int round = 0; round < 300; ++round) {
            const std::string text = random.text(60);
            std::string back;
            tokenizer->decode(encoded(*tokenizer, text), back);
            REQUIRE(back == text);
        }
    }
}

TEST_CASE("bytes that are no UTF-8 are a word of their own") {
    const auto tokenizer = golden("qwen");
    const auto joined = [&](std::initializer_list<std::string> parts) {
        std::vector<std::int32_t> ids;
        for (const std::string& part : parts) tokenizer->encode(part, ids);
        return ids;
    };
    for (const std::string bad : {"\xFF", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\xC0\x80", "\xF5\x80\x80\x80"}) {
        CHECK(encoded(*tokenizer, "the earth" + bad + "and") == joined({"the earth", bad, "and"}));
        CHECK(encoded(*tokenizer, bad + "<|im_end|>" + bad) == joined({bad, "<|im_end|>", bad}));
        // what follows a broken character is normalised all the same
        CHECK(encoded(*tokenizer, bad + "e\u0301") == joined({bad, "\u00e9"}));
    }
}

TEST_CASE("a long word takes time in proportion to its length") {
    const auto tokenizer = golden("gpt2");
    for (const std::string part : {"a", "ab", "the"}) {
        std::string text;
        while (text.size() < 300'000) text += part;
        std::string back;
        tokenizer->decode(encoded(*tokenizer, text), back);
        CHECK(back == text);
    }
}

TEST_CASE("special tokens can be left out of a text") {
    const auto tokenizer = golden("minimind");
    const std::string text = "<|im_start|>user\nHi<|im_end|>";
    const auto ids = encoded(*tokenizer, text);
    std::string whole, plain;
    tokenizer->decode(ids, whole);
    tokenizer->decode(ids, plain, true);
    CHECK(whole == text);
    CHECK(plain == "user\nHi");
    REQUIRE(tokenizer->find("<|im_end|>") == 2);
    CHECK(tokenizer->is_special(2));
    CHECK(tokenizer->token_bytes(2) == "<|im_end|>");
    CHECK(!tokenizer->find("no such token"));
    CHECK_THROWS_MESSAGE(tokenizer->token_bytes(700), DataError, "token 700 is outside [0, 700)");
    CHECK_THROWS_MESSAGE(tokenizer->token_bytes(-1), DataError, "token -1 is outside [0, 700)");
}

TEST_CASE("the ids around a text are told, and not added") {
    const auto tokenizer = golden("llama3");
    CHECK(tokenizer->frame().before == std::vector<std::int32_t>{700});
    CHECK(tokenizer->frame().after.empty());
    CHECK(golden("gpt2")->frame().before.empty());
    CHECK(encoded(*tokenizer, "").empty());
}

TEST_CASE("a tokenizer serves several threads") {
    const auto tokenizer = golden("qwen");
    const std::string text = "And God said, Let there be light: and there was light. caf\u00e9 e\u0301 123\n";
    const auto expected = encoded(*tokenizer, text);
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (int& count : wrong) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) count += encoded(*tokenizer, text) == expected ? 0 : 1;
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("without a file each byte is a token") {
    const auto tokenizer = open_tokenizer("");
    CHECK(tokenizer->vocab_size() == 256);
    CHECK(encoded(*tokenizer, "a\xFF") == std::vector<std::int32_t>{'a', 255});
    CHECK(tokenizer->find("\n") == 10);
    CHECK(!tokenizer->find("ab"));
    std::string text;
    tokenizer->decode(std::vector<std::int32_t>{104, 105}, text);
    CHECK(text == "hi");
    CHECK_THROWS_MESSAGE(tokenizer->decode(std::vector<std::int32_t>{256}, text), DataError, "256");
}

TEST_CASE("a tokenizer is opened by its file or folder") {
    const TemporaryFolder folder;
    folder.write("model/tokenizer.json", content_of(test::golden_path("gpt2")));
    CHECK(open_tokenizer(folder.file("model"))->vocab_size() == golden("gpt2")->vocab_size());
    CHECK(open_tokenizer(folder.file("model/tokenizer.json"))->vocab_size() == golden("gpt2")->vocab_size());
    CHECK_THROWS_MESSAGE(open_tokenizer(folder.file("none.json")), IoError, "none.json: cannot open");
    folder.write("other/tokenizer.model", "");
    CHECK_THROWS_MESSAGE(open_tokenizer(folder.file("other")), IoError, "tokenizer.model is not supported");
}
