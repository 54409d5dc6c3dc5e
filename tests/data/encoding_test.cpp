#include <algorithm>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/document_encoder.hpp"
#include "data/encode_file.hpp"
#include "data/small_tokenizer.hpp"
#include "data/token_bytes.hpp"
#include "data/tokens.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

constexpr std::int32_t im_start = 256, im_end = 257, two_newlines = 258, assistant = 259, begin_of_text = 260;
constexpr std::int32_t eot = 263, end_of_text = 264;

DataConfig chat_config(ChatFormat format) {
    DataConfig data;
    data.source = DataSource::chat;
    data.tokenizer = "small";
    data.chat_format = format;
    return data;
}

/// The tokens that carry loss, as text.
std::string learned(const EncodedDocument& document, const Tokenizer& tokenizer) {
    std::string text;
    for (std::size_t i = 0; i < document.ids.size(); ++i) {
        if (document.loss.at(i) != 0) tokenizer.decode(std::span(document.ids).subspan(i, 1), text);
    }
    return text;
}

std::vector<std::int32_t> all_of(const TokenStore& store) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(store.size()));
    store.copy(0, tokens);
    return tokens;
}

}  // namespace

TEST_CASE("a text line is start, text and separator") {
    DataConfig data;
    data.source = DataSource::jsonl;
    data.tokenizer = "small";
    data.document_start = "<|im_start|>";
    data.document_separator = "<|endoftext|>";
    EncodedDocument document;
    text_line_encoder(data, small_tokenizer())->encode(R"({"text": "ab"})", document);
    CHECK(document.ids == std::vector<std::int32_t>{im_start, 'a', 'b', end_of_text});
    CHECK(document.loss.empty());

    data.document_separator = "<|end|>";
    CHECK_THROWS_MESSAGE(text_line_encoder(data, small_tokenizer()), ConfigError,
                         "data.document_separator: \"<|end|>\" is no token of the tokenizer");
    data.document_separator = "\n";  // one token, though no named one
    CHECK_NOTHROW(text_line_encoder(data, small_tokenizer()));
    data.tokenizer = "";  // bytes
    data.document_separator = "<|end|>";
    data.document_start = "";
    document.clear();
    text_line_encoder(data, std::make_shared<SmallTokenizer>(std::vector<std::string>{}))
        ->encode(R"({"text": "ab"})", document);
    CHECK(document.ids.size() == 9);
}

TEST_CASE("loss is on the assistant's tokens, closing mark included, in each turn") {
    const auto tokenizer = small_tokenizer();
    const std::string line =
        R"({"conversations": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"},
            {"role": "assistant", "content": "one"}, {"role": "user", "content": "r"},
            {"role": "assistant", "content": "two"}]})";
    EncodedDocument document;
    chat_line_encoder(chat_config(ChatFormat::qwen), tokenizer)->encode(line, document);
    CHECK(document.loss.size() == document.ids.size());
    CHECK(learned(document, *tokenizer) == "one<|im_end|>two<|im_end|>");
    CHECK(document.ids[0] == im_start);
    CHECK(document.ids.back() == '\n');

    document.clear();
    chat_line_encoder(chat_config(ChatFormat::minimind), tokenizer)->encode(line, document);
    CHECK(learned(document, *tokenizer) ==
          "<think>\n\n</think>\n\none<|im_end|>\n<think>\n\n</think>\n\ntwo<|im_end|>\n");

    document.clear();
    chat_line_encoder(chat_config(ChatFormat::llama3), tokenizer)->encode(line, document);
    CHECK(learned(document, *tokenizer) == "one<|eot_id|>two<|eot_id|>");
    CHECK(document.ids[0] == begin_of_text);
    CHECK(document.ids.back() == eot);

    // The whole text encoded at once has the same tokens.
    std::string whole;
    tokenizer->decode(document.ids, whole, false);
    std::vector<std::int32_t> ids;
    tokenizer->encode(whole, ids);
    CHECK(ids == document.ids);
}

TEST_CASE("a token that begins in the header carries no loss") {
    const auto tokenizer = std::make_shared<SmallTokenizer>(
        std::vector<std::string>{"<|im_start|>", "<|im_end|>", "assistant\n\n", "\n\nb"});
    EncodedDocument document;
    const auto encoder = chat_line_encoder(chat_config(ChatFormat::qwen), tokenizer);
    encoder->encode(R"({"messages": [{"role": "assistant", "content": "\nab"}]})", document);
    CHECK(document.ids == std::vector<std::int32_t>{256, 258, 'a', 'b', 257, '\n'});
    CHECK(document.loss == std::vector<std::uint8_t>{0, 0, 1, 1, 1, 0});
}

TEST_CASE("a tokenizer without the marks of the format is refused, bytes spell them out") {
    const auto without = std::make_shared<SmallTokenizer>(std::vector<std::string>{"<|im_start|>"});
    CHECK_THROWS_MESSAGE(chat_line_encoder(chat_config(ChatFormat::qwen), without), ConfigError,
                         "data.chat_format: needs the token <|im_end|>, which the tokenizer small does not have");
    DataConfig bytes = chat_config(ChatFormat::qwen);
    bytes.tokenizer = "";
    EncodedDocument document;
    const SmallTokenizer plain{std::vector<std::string>{}};
    chat_line_encoder(bytes, std::make_shared<SmallTokenizer>(plain))
        ->encode(R"({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]})",
                 document);
    CHECK(learned(document, plain) == "a<|im_end|>");
}

TEST_CASE("the lines of a file are documents, in order, for any number of threads") {
    const TemporaryFolder folder;
    std::string text = "\xEF\xBB\xBF";
    for (int i = 0; i < 60'000; ++i) {  // beyond two parts of a mebibyte
        text += fmt::format("{{\"text\": \"{} {}\"}}{}\n", i, std::string(static_cast<std::size_t>(i % 37), 'x'),
                            i % 3 == 0 ? "\r" : "");
        if (i % 1000 == 0) text += "\n  \n";
    }
    text += R"({"text": "last"})";  // no newline at the end
    REQUIRE(text.size() > 2'200'000);
    const std::string path = folder.write("a.jsonl", text);
    DataConfig data;
    data.source = DataSource::jsonl;
    data.tokenizer = "small";
    const auto encoder = text_line_encoder(data, small_tokenizer());
    TokenStore alone(1000), shared(1000);
    append_lines(path, *encoder, {small_tokenizer(), 1}, alone);
    append_lines(path, *encoder, {small_tokenizer(), 3}, shared);
    CHECK(all_of(alone) == all_of(shared));
    REQUIRE(alone.documents().size() == 60'001);
    CHECK(std::ranges::equal(alone.documents(), shared.documents()));
    for (const std::size_t i : {0, 1, 39'999, 60'000}) {
        std::vector<std::int32_t> ids;
        small_tokenizer()->encode(i == 60'000 ? "last" : fmt::format("{} {}", i, std::string(i % 37, 'x')), ids);
        std::vector<std::int32_t> found(ids.size());
        alone.copy(alone.documents()[i], found);
        CHECK(found == ids);
        const std::int64_t end = i == 60'000 ? alone.size() : alone.documents()[i + 1];
        CHECK(end - alone.documents()[i] == static_cast<std::int64_t>(ids.size()));
    }
}

TEST_CASE("B58: the first line that cannot be read is named, for any number of threads") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 1; i <= 80'000; ++i) {
        text += i == 50'000 || i == 50'001 || i == 79'000 ? "oops\n" : "{\"text\": \"some words that fill\"}\n";
    }
    const std::string path = folder.write("bad.jsonl", text);
    DataConfig data;
    data.source = DataSource::jsonl;
    const auto encoder = text_line_encoder(data, small_tokenizer());
    for (const int threads : {1, 4}) {
        TokenStore store(1000);
        CHECK_THROWS_MESSAGE(append_lines(path, *encoder, {small_tokenizer(), threads}, store), DataError,
                             "bad.jsonl:50000: is no JSON from column 1 on");
    }
    TokenStore store(1000);
    CHECK_THROWS_MESSAGE(append_lines(folder.write("empty.jsonl", ""), *encoder, {small_tokenizer(), 1}, store),
                         DataError, "empty.jsonl: holds no document");
    CHECK_THROWS_MESSAGE(
        append_lines(folder.write("blank.jsonl", "\n\n{\"text\": \"\"}\n"), *encoder, {small_tokenizer(), 1}, store),
        DataError, "blank.jsonl: holds no document");
    CHECK_THROWS_MESSAGE(append_text(folder.write("empty.txt", ""), {small_tokenizer(), 1}, store), DataError,
                         "empty.txt: is empty");
}

TEST_CASE("a text is encoded in parts as it is in one go, for any number of threads") {
    const TemporaryFolder folder;
    std::string text;
    while (text.size() < 2'500'000) text += fmt::format("assistant\n\n{}<|im_end|> ", text.size());
    const std::string path = folder.write("a.txt", text);
    std::vector<std::int32_t> expected;
    small_tokenizer()->encode(text, expected);
    for (const int threads : {1, 3}) {
        TokenStore store(1000);
        append_text(path, {small_tokenizer(), threads}, store);
        CHECK(all_of(store) == expected);
    }
}

TEST_CASE("tokens are kept no wider than the vocabulary needs") {
    CHECK(narrowest_type(256) == TokenType::uint8);
    CHECK(narrowest_type(257) == TokenType::uint16);
    CHECK(narrowest_type(65'536) == TokenType::uint16);
    CHECK(narrowest_type(65'537) == TokenType::uint32);
    TokenStore store(100'000);
    append_tokens(std::vector<std::int32_t>{0, 255}, "a", store);
    append_tokens(std::vector<std::int32_t>{256, 65'535}, "b", store);
    append_tokens(std::vector<std::int32_t>{65'536, 99'999}, "c", store);
    append_tokens({}, "d", store);
    CHECK(all_of(store) == std::vector<std::int32_t>{0, 255, 256, 65'535, 65'536, 99'999});
}

TEST_CASE("the bytes of targets are those of their text, special tokens and ignored ones have none") {
    const TokenBytes bytes(*small_tokenizer());
    CHECK(bytes.count(std::vector<std::int32_t>{'a', two_newlines, assistant, im_end, ignore_index, 5000}) ==
          1 + 2 + 10);
    CHECK(bytes.count({}) == 0);
}
