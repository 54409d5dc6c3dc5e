#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "causeway/error.hpp"
#include "io/tokenizer_support.hpp"
#include "support/catch.hpp"

using namespace causeway;
using Json = nlohmann::json;

namespace {

/// A tokenizer of three tokens.
Json small() {
    return Json::parse(
        R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, "post_processor": null,
        "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},
        "merges": ["a b"]}})");
}

Json added(const std::string& content, int id) {
    return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// Changes one place of the small tokenizer and looks for what is said about it.
void refused(const char* place, const Json& value, const std::string& message) {
    Json json = small();
    json[Json::json_pointer(place)] = value;
    INFO(place << " = " << value.dump());
    CHECK_THROWS_MESSAGE(parse_tokenizer(json.dump(), "file"), IoError, message);
}

std::vector<std::int32_t> ids_of(const Json& json, const std::string& text) {
    return test::encoded(*parse_tokenizer(json.dump(), "file"), text);
}

using Ids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("what would change ids and is not supported is named") {
    refused("/truncation", {{"max_length", 5}},
            "file: truncation: found {\"max_length\":5}: truncation is not supported");
    refused("/padding", {{"strategy", {{"Fixed", 8}}}}, "padding: padding to a fixed length");
    refused("/normalizer", {{"type", "Nmt"}}, "normalizer: the normalizer \"Nmt\" is not supported");
    refused("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "BertNormalizer"}}}}},
            "normalizer.normalizers[1]: the normalizer \"BertNormalizer\"");
    refused("/pre_tokenizer", {{"type", "Metaspace"}}, "the pre-tokenizer \"Metaspace\" is not supported");
    refused("/pre_tokenizer",
            {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}},
            "pre_tokenizer.pretokenizers[1]: a pre-tokenizer after ByteLevel");
    refused("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "[a&&b]"}}}, {"behavior", "Isolated"}},
            "pre_tokenizer.pattern.Regex: the pattern \"[a&&b]\" has && in a set");
    refused("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Mixed"}},
            "behavior: found \"Mixed\"");
    refused("/post_processor", {{"type", "Other"}}, "the post-processor \"Other\"");
    refused("/decoder", {{"type", "WordPiece"}}, "the decoder \"WordPiece\"");
    refused("/model/type", "Unigram", "model.type: the model \"Unigram\" is not supported, expected BPE");
    refused("/model/dropout", 0.1, "model.dropout: found 0.1: dropping merges at random");
    refused("/model/continuing_subword_prefix", "##", "a prefix of subwords is not supported");
    refused("/model/end_of_word_suffix", "</w>", "a suffix of words is not supported");
}

TEST_CASE("what is harmless is read") {
    Json json = small();
    json["model"]["dropout"] = 0.0;
    json["model"]["continuing_subword_prefix"] = "";
    json["padding"] = {{"strategy", "BatchLongest"}};
    CHECK(ids_of(json, "abba") == Ids{2, 1, 0});
    json["model"]["merges"] = Json::array({Json::array({"a", "b"})});
    json["model"].erase("type");
    CHECK(ids_of(json, "ab") == Ids{2});
    CHECK(test::encoded(*parse_tokenizer("\xEF\xBB\xBF" + json.dump(2), "file"), "ab") == Ids{2});
}

TEST_CASE("a broken tokenizer.json is refused with its place") {
    CHECK_THROWS_MESSAGE(parse_tokenizer("", "file"), IoError, "file: is no JSON: parse error at line 1, column 1");
    CHECK_THROWS_MESSAGE(parse_tokenizer("{\n \"a\": 1,\n}", "file"), IoError, "line 3, column 1");
    CHECK_THROWS_MESSAGE(parse_tokenizer("[]", "file"), IoError, "file: found [], expected an object");
    CHECK_THROWS_MESSAGE(parse_tokenizer("{\"a\": 1, \"a\": 2}", "file"), IoError, "the key \"a\" appears twice");
    CHECK_THROWS_MESSAGE(parse_tokenizer("{\"a\": \"\xFF\"}", "file"), IoError, "is no JSON");
    refused("/model/vocab", Json::array(), "model.vocab: found [], expected an object of tokens and their ids");
    refused("/model/vocab", Json::object(), "model.vocab: there are no tokens");
    refused("/model/vocab/a", -1, "model.vocab.a: found -1, expected a token id from 0 to");
    refused("/model/vocab/a", 1.5, "model.vocab.a: found 1.5");
    refused("/model/vocab/a", std::int64_t{1} << 40, "model.vocab.a: found 1099511627776");
    refused("/model/vocab/a", 1, "model.vocab: two tokens have the id 1");
    refused("/model/merges", "a b", "model.merges: found \"a b\", expected a list");
    refused("/model/merges/0", "ab", "model.merges[0]: found \"ab\", expected two tokens");
    refused("/model/merges/0", Json::array({"a", "b", "c"}), "expected two tokens");
    refused("/model/merges/0", "a c", "model.merges[0]: \"c\" is not in the vocabulary");
    refused("/model/merges/0", "b a", "model.merges[0]: \"ba\" is not in the vocabulary");
    refused("/model/unk_token", "<unk>", "model.unk_token: \"<unk>\" is not in the vocabulary");
    refused("/model/ignore_merges", 1, "model.ignore_merges: found 1, expected true or false");
    refused("/pre_tokenizer", {{"type", 5}}, "pre_tokenizer.type: found 5, expected a string");
}

TEST_CASE("ids of added tokens are those that the tokenizers package gives, or refused") {
    Json json = small();
    json["added_tokens"] = {added("<x>", 3), added("<y>", 4), added("a", 0)};
    CHECK(ids_of(json, "b<x>ab<y>") == Ids{1, 3, 0, 1, 4});
    refused("/added_tokens", Json::array({added("<x>", 7)}), "added_tokens[0]: the token \"<x>\" has the id 7");
    refused("/added_tokens", Json::array({added("a", 7)}), "is another in the vocabulary, expected 0");
    refused("/added_tokens", {added("<x>", 3), added("<x>", 4)}, "added_tokens[1]: the token appears twice");
    Json strip = small();
    strip["normalizer"] = {{"type", "Strip"}};
    strip["added_tokens"] = Json::array({added("  ", 3)});
    strip["added_tokens"][0]["normalized"] = true;
    CHECK_THROWS_MESSAGE(parse_tokenizer(strip.dump(), "file"), IoError, "is empty once normalised");
}

TEST_CASE("characters without a token vanish, become unk or bytes") {
    Json json = small();
    CHECK(ids_of(json, "axb") == Ids{2});  // as in the tokenizers package
    json["pre_tokenizer"] = nullptr;
    json["decoder"] = nullptr;
    json["model"]["vocab"]["?"] = 3;
    json["model"]["unk_token"] = "?";
    CHECK(ids_of(json, "axxb") == Ids{0, 3, 3, 1});
    json["model"]["fuse_unk"] = true;
    CHECK(ids_of(json, "axxb") == Ids{0, 3, 1});
    json["model"]["byte_fallback"] = true;
    json["model"]["vocab"]["<0x78>"] = 4;
    CHECK(ids_of(json, "axzzb") == Ids{0, 4, 3, 1});
}

TEST_CASE("of two merges of a pair the later holds") {
    Json json = small();
    json["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"bc", 4}};
    json["model"]["merges"] = {"a b", "b c", "a b"};
    CHECK(ids_of(json, "abc") == Ids{0, 4});
}
