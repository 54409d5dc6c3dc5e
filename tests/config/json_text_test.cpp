#include <clocale>
#include <cstdlib>
#include <locale>

#include "config/read_json.hpp"
#include "config_support.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

std::string syntax_error(const std::string& text) {
    const std::string message = mistake_in(text);
    REQUIRE(!message.empty());
    return message;
}

/// Decimal commas and grouped thousands, as in German.
struct GermanNumbers : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

/// Switches C's locale to one with decimal commas; makes it with localedef when the system has none.
bool use_comma_locale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
        if (std::setlocale(LC_ALL, name) != nullptr) return true;
    }
    static const TemporaryFolder folder;
    const std::string make = "localedef -i de_DE -f UTF-8 " + folder.file("de_DE.UTF-8") + " >/dev/null 2>&1";
    if (std::system(make.c_str()) != 0) return false;
    setenv("LOCPATH", folder.path().c_str(), 1);
    return std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
}

}  // namespace

TEST_CASE("B60: a duplicate key is an error that gives its path") {
    CHECK_THAT(syntax_error(R"({"train": {"seed": 1, "seed": 2}})"), contains("train.seed: the key appears twice"));
    CHECK_THAT(syntax_error(R"({"train": {}, "train": {}})"), contains("train: the key appears twice (in test.json)"));
    CHECK_THAT(syntax_error(R"({"a": [{"b": {"c": 1, "c": 1}}]})"), contains("a.b.c: the key appears twice"));
    CHECK_THAT(syntax_error(R"({"train": {"seed": 1, "\u0073eed": 2}})"),
               contains("train.seed: the key appears twice"));
    CHECK(parsed(R"({"data": {"path": "x"}, "runtime": {"threads": 1}})").runtime.threads == 1);
}

TEST_CASE("B60: a byte order mark and CRLF are accepted, positions count after them") {
    CHECK(parsed("\xEF\xBB\xBF{\r\n\"train\":\r\n{\"seed\": 7}\r\n}\r\n").train.seed == 7);
    CHECK_THAT(syntax_error("\xEF\xBB\xBF{x}"), contains("test.json:1:2: "));
    CHECK_THAT(syntax_error("{\r\n  \"train\": {\"seed\": x}\r\n}"), contains("test.json:2:21: "));
}

TEST_CASE("B60: text that is not JSON gives line and column") {
    CHECK_THAT(syntax_error("{\n  \"train\": {\"learning_rate\": NaN}\n}"),
               contains("test.json:2:30: 'NaN' is not JSON: numbers must be finite (at train.learning_rate)"));
    CHECK_THAT(syntax_error("{\"train\": {\"learning_rate\": Infinity}}"),
               contains("test.json:1:29: 'Infinity' is not"));
    CHECK_THAT(syntax_error("{\"train\": {\"learning_rate\": -Infinity}}"), contains("'-Infinity' is not JSON"));
    CHECK_THAT(syntax_error("{\n\"train\": {\n\"seed\": 1,\n}}"),
               contains("test.json:4:1: unexpected '}' after a comma"));
    CHECK_THAT(syntax_error("{\"train\": {},\n}"), contains("test.json:2:1: unexpected '}' after a comma"));
    CHECK_THAT(syntax_error("{\"a\": [1, ]}"), contains("test.json:1:11: unexpected ']' after a comma"));
    CHECK_THAT(syntax_error("{\"a\": 1,, \"b\": 2}"), contains("test.json:1:9: unexpected ',' after a comma"));
    CHECK_THAT(syntax_error("\xFF{}"), contains("test.json:1:1: byte 0xFF is not valid here"));
    CHECK_THAT(syntax_error("{\"data\": {\"path\": \"a\xFF\"}}"),
               contains("test.json:1:21: byte 0xFF is not valid here"));
    CHECK_THAT(syntax_error("{\"data\": {\"path\": \"\xC3\xB6\xC3\xB6\" x}}"),
               contains("test.json:1:24: unexpected 'x'"));
    CHECK_THAT(syntax_error(std::string("{\"seed\": 1\0}", 12)), contains("test.json:1:11: byte 0x00"));
    CHECK_THAT(syntax_error("{}\n{}"), contains("test.json:2:1: unexpected '{'"));
    CHECK_THAT(syntax_error("{\"train\": {'seed': 1}}"), contains("test.json:1:12: strings need double quotes"));
    CHECK_THAT(syntax_error("{\"data\": {\"path\": \"a\n\"}}"), contains("is the closing quote missing?"));
    CHECK_THAT(syntax_error("{\"train\": {\"seed\": 01}}"), contains("test.json:1:2"));
    CHECK_THAT(syntax_error("{\"train\": {\"seed\": 0x10}}"), contains("unexpected '0x10'"));
    CHECK_THAT(syntax_error("{\"train\": {\"seed\": +1}}"), contains("unexpected '+1'"));
    CHECK_THAT(syntax_error("{\"train\": True}"), contains("unexpected 'True'"));
}

TEST_CASE("B60: text that stops early or is no config at all") {
    CHECK_THAT(syntax_error(""), contains("test.json:1:1: the text ends before the JSON does"));
    CHECK_THAT(syntax_error("   \n"), contains("the text ends before the JSON does"));
    CHECK_THAT(syntax_error("{\"train\": {\"seed\": 1"), contains("the text ends before the JSON does"));
    CHECK_THAT(syntax_error("[]"), contains("test.json: found an array, expected an object with the sections"));
    CHECK_THAT(syntax_error("3"), contains("test.json: found 3, expected an object"));
    CHECK_THAT(syntax_error("null"), contains("test.json: found null, expected an object"));
    CHECK_THAT(syntax_error(std::string(500000, '[')), contains("the text ends before the JSON does"));
}

TEST_CASE("comments are not accepted, and that is said") {
    CHECK_THAT(syntax_error("{\n// the seed\n\"train\": {}}"), contains("test.json:2:1: comments are not accepted"));
    CHECK_THAT(syntax_error("{\"train\": {} /* end */}"), contains("comments are not accepted"));
    CHECK_THAT(syntax_error("# hello\n{}"), contains("test.json:1:1: comments are not accepted"));
}

TEST_CASE("B60: numbers beyond a double or an integer are refused, never rounded to something else") {
    CHECK_THAT(syntax_error(section_with("train", "learning_rate", "1e999")),
               contains("number 1e999 is too large for a double (at train.learning_rate)"));
    CHECK_THAT(syntax_error(section_with("train", "learning_rate", "-1e999")), contains("number -1e999 is too large"));
    CHECK_THAT(syntax_error(section_with("train", "learning_rate", "1e-999")),
               contains("train.learning_rate: found 0"));
    CHECK_THAT(syntax_error(section_with("train", "seed", "18446744073709551616")),
               contains("train.seed: found 1.84467"));
    CHECK_THAT(syntax_error(section_with("train", "max_steps", "9223372036854775808")),
               contains("train.max_steps: found 9223372036854775808, expected an integer from 0 to"));
    CHECK_THAT(syntax_error(section_with("model", "vocab_size", "1e300")), contains("model.vocab_size: found 1e+300"));
    // 2^53 + 1 as a float is not the number that was written.
    CHECK_THAT(syntax_error(section_with("train", "seed", "9007199254740994.0")), contains("train.seed: found"));
}

TEST_CASE("B60: the locale does not change how numbers are read or written") {
    const std::string text = R"({"train": {"learning_rate": 0.0015, "weight_decay": 1.25, "max_steps": 12345}})";
    const std::locale cpp_before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
    const std::string c_before = std::setlocale(LC_ALL, nullptr);
    if (!use_comma_locale()) WARN("no C locale with a decimal comma here: only the C++ locale was changed");
    const Config config = parsed(text);
    const std::string written = to_json(config);
    const std::string schema = config_schema();
    const std::string message = mistake_in(section_with("train", "batch_size", "1.5"));
    std::setlocale(LC_ALL, c_before.c_str());
    std::locale::global(cpp_before);

    CHECK(config.train.learning_rate == 0.0015);
    CHECK(config.train.weight_decay == 1.25);
    CHECK(config.train.max_steps == 12345);
    CHECK(written == to_json(parsed(text)));
    CHECK_THAT(written, contains("\"weight_decay\": 1.25"));
    CHECK(schema == config_schema());
    CHECK_THAT(message, contains("found 1.5"));
}
