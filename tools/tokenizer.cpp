#include <memory>
#include <optional>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "io/atomic_file.hpp"
#include "io/tokenizer/tokenizer.hpp"
#include "io/tokenizer/train_tokenizer.hpp"
#include "output.hpp"
#include "progress_line.hpp"
#include "text.hpp"
#include "tokenizing.hpp"

namespace causeway::cli {
namespace {

constexpr const char* train_footer =
    "Byte-level BPE: any text can be encoded, whatever the tokenizer was trained on. The same text gives the same "
    "file,\n"
    "whatever the threads. The file is read by HuggingFace's `tokenizers`, which gives the same ids.\n"
    "\n"
    "Examples:\n"
    "  causeway tokenizer train book.txt --vocab-size 4096 --special-token \"<|endoftext|>\" --out tokenizer.json\n"
    "  causeway tokenizer train *.jsonl --jsonl --vocab-size 32000 --pattern llama3 --out tokenizer.json";

constexpr const char* show_footer =
    "A line for each token: its id, and its bytes in quotes. The last line counts them.\n"
    "\n"
    "Examples:\n"
    "  causeway tokenizer show gpt2/ --text \"Hello, world\"\n"
    "  causeway tokenizer show tokenizer.json --ids 15496,11";

struct TrainArguments {
    std::vector<std::string> inputs;
    std::string out;
    TrainTokenizerOptions options;
};

struct ShowArguments {
    std::string tokenizer;
    std::optional<std::string> text, ids;
};

int run_train(TrainArguments arguments) {
    TrainTokenizerOptions& options = arguments.options;
    if (options.threads == 0) options.threads = available_threads();
    check_replaces_none(arguments.out, arguments.inputs);
    check_can_write(arguments.out);
    ProgressLine line(arguments.inputs);
    const TrainedTokenizer trained =
        train_tokenizer(arguments.inputs, options, [&](std::uint64_t bytes) { line.show(bytes, "counting words"); });
    line.finish();
    if (trained.bytes == 0) throw DataError(fmt::format("{}: there is no text", arguments.inputs.front()));
    write_text_atomically(arguments.out, trained.json);
    std::string text = fmt::format("wrote {}: {} tokens from {} bytes, {} different words\n", arguments.out,
                                   trained.vocab_size, trained.bytes, trained.words);
    if (trained.vocab_size < options.vocab_size) {
        text += fmt::format("no more pairs occur {} times: {} tokens instead of {}\n", options.min_frequency,
                            trained.vocab_size, options.vocab_size);
    }
    write_notice(text, arguments.out);
    return exit_success;
}

int run_show(const ShowArguments& arguments) {
    const auto tokenizer = open_tokenizer(arguments.tokenizer);
    std::vector<std::int32_t> ids;
    if (arguments.text) {
        tokenizer->encode(*arguments.text, ids);
    } else {
        ids = tokens_of(nullptr, nullptr, &*arguments.ids, "--ids");
    }
    std::string out;
    for (const std::int32_t id : ids) {
        out += fmt::format("{:>8}  {}{}\n", id, quoted_bytes(tokenizer->token_bytes(id)),
                           tokenizer->is_special(id) ? "  special" : "");
    }
    print(out + fmt::format("{} tokens of a vocabulary of {}\n", ids.size(), tokenizer->vocab_size()));
    return exit_success;
}

Command add_train_tokenizer(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("train", "Learn a tokenizer from text");
    auto arguments = std::make_shared<TrainArguments>();
    TrainTokenizerOptions& options = arguments->options;
    sub->add_option("INPUT", arguments->inputs, "Files of text; - is standard input")->required()->type_name("FILE");
    sub->add_option("--vocab-size", options.vocab_size, "Tokens, with the 256 bytes and the special ones")
        ->required()
        ->type_name("N")
        ->check(whole_number<std::int64_t>(1));
    sub->add_option("--out", arguments->out, "The file to write")->required()->type_name("tokenizer.json");
    sub->add_option("--special-token", options.special_tokens, "Gets an id of its own; may be given again")
        ->type_name("TOKEN")
        ->allow_extra_args(false);
    sub->add_option("--pattern", options.pattern, "How text is cut into words: gpt2, qwen, llama3 or a pattern")
        ->type_name("P")
        ->capture_default_str();
    sub->add_flag("--nfc", options.nfc, "Normalise text to Unicode's form NFC first");
    sub->add_option("--min-frequency", options.min_frequency, "Pairs that occur less often are not merged")
        ->type_name("N")
        ->check(whole_number<std::uint64_t>(1))
        ->capture_default_str();
    CLI::Option* jsonl = sub->add_flag("--jsonl", options.jsonl, "Each line is a JSON object");
    sub->add_option("--field", options.field, "The member of the object that has the text [text]")
        ->type_name("NAME")
        ->needs(jsonl);
    options.threads = 0;
    sub->add_option("--threads", options.threads, "0: as many as this process may use")
        ->type_name("N")
        ->check(whole_number<int>(0, 1024));
    sub->footer(train_footer);
    return {sub, [arguments] { return run_train(*arguments); }};
}

Command add_show(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("show", "Show what a text is cut into");
    auto arguments = std::make_shared<ShowArguments>();
    sub->add_option("TOKENIZER", arguments->tokenizer, "A tokenizer.json, or the folder it is in")
        ->required()
        ->type_name("FILE");
    CLI::Option* text = sub->add_option("--text", arguments->text, "What to encode")->type_name("TEXT");
    CLI::Option* ids = sub->add_option("--ids", arguments->ids, "Token ids: 5,17,3")->type_name("IDS");
    require_one_of(sub, {text, ids});
    sub->footer(show_footer);
    return {sub, [arguments] { return run_show(*arguments); }};
}

}  // namespace

Command add_tokenizer(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("tokenizer", "Learn a tokenizer, or look at one");
    sub->require_subcommand(1);
    sub->footer(
        "Examples:\n"
        "  causeway tokenizer train book.txt --vocab-size 4096 --out tokenizer.json\n"
        "  causeway tokenizer show tokenizer.json --text \"Hello\"");
    const std::vector<Command> commands{add_train_tokenizer(*sub), add_show(*sub)};
    return {sub, [commands] {
                for (const Command& command : commands) {
                    if (command.app->parsed()) return command.run();
                }
                return exit_usage;
            }};
}

}  // namespace causeway::cli
