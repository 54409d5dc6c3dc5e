#include <memory>
#include <optional>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "io/token_file_writer.hpp"
#include "io/tokenizer/tokenize_files.hpp"
#include "io/tokenizer/tokenizer_config.hpp"
#include "output.hpp"
#include "progress_line.hpp"
#include "tokenizing.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "An INPUT is a text, or with --jsonl a file of objects {\"text\": \"...\"}, one a line; - is standard input. A "
    "file\n"
    "or a line is a document. Special tokens that are written in the text become their ids.\n"
    "\n"
    "Formats: nanogpt, numbers of 16 bits and nothing else; llmc, the same behind llm.c's header, numbers of 32 bits "
    "for\n"
    "vocabularies beyond 65536; npy, a NumPy array of uint16 or uint32. A name that ends in .npy means npy, others\n"
    "nanogpt. Files appear when they are complete.\n"
    "\n"
    "Examples:\n"
    "  causeway tokenize book.txt --tokenizer gpt2/ --out train.bin\n"
    "  causeway tokenize part1.jsonl part2.jsonl --jsonl --tokenizer tokenizer.json --append-eos --out train.bin\n"
    "  causeway tokenize web.jsonl --jsonl --tokenizer gpt2/ --start \"<|endoftext|>\" --format llmc \\\n"
    "      --shard-tokens 100000000 --out web.bin\n"
    "  zcat corpus.txt.gz | causeway tokenize - --tokenizer gpt2/ --out corpus.npy";

struct Arguments {
    std::vector<std::string> inputs;
    std::string tokenizer, out, format, start, separator;
    bool jsonl = false, append_eos = false;
    std::string field = "text";
    std::int64_t shard_tokens = 0;
    int threads = 0;
};

TokenFormat format_of(const Arguments& arguments) {
    if (arguments.format.empty()) return arguments.out.ends_with(".npy") ? TokenFormat::npy : TokenFormat::nanogpt;
    if (arguments.format == "llmc") return TokenFormat::llmc;
    return arguments.format == "npy" ? TokenFormat::npy : TokenFormat::nanogpt;
}

/// `tokenizer_path`: the file that the tokenizer was read from.
std::optional<std::int32_t> separator_of(const Arguments& arguments, const Tokenizer& tokenizer,
                                         const std::string& tokenizer_path) {
    if (!arguments.append_eos) return token_named(tokenizer, arguments.separator, "--separator");
    const std::optional<std::string> eos = read_tokenizer_config(tokenizer_path).eos;
    if (!eos) {
        throw DataError(fmt::format("--append-eos: {} names no eos_token; give it with --separator",
                                    tokenizer_config_file(tokenizer_path)));
    }
    return token_named(tokenizer, *eos, "--append-eos");
}

std::string summary(const TokenizeCounts& counts, const TokenFileWriter& writer, double seconds) {
    const auto bytes = static_cast<double>(counts.bytes), tokens = static_cast<double>(counts.tokens);
    const std::string files = writer.files().size() == 1 ? writer.files().front()
                                                         : fmt::format("{} files, {} to {}", writer.files().size(),
                                                                       writer.files().front(), writer.files().back());
    return fmt::format("wrote {}: {} tokens of {} documents, {} bytes, {:.3f} bytes a token, {:.1f} MB/s\n", files,
                       counts.tokens, counts.documents, counts.bytes, tokens > 0 ? bytes / tokens : 0.0,
                       seconds > 0 ? bytes / seconds / 1e6 : 0.0);
}

int run_tokenize(const Arguments& arguments) {
    const Stopwatch watch;
    const std::string tokenizer_path = tokenizer_file(arguments.tokenizer);
    const auto tokenizer = open_tokenizer(tokenizer_path);
    TokenizeOptions options;
    options.jsonl = arguments.jsonl;
    options.field = arguments.field;
    options.start = token_named(*tokenizer, arguments.start, "--start");
    options.separator = separator_of(arguments, *tokenizer, tokenizer_path);
    options.threads = arguments.threads > 0 ? arguments.threads : available_threads();
    std::vector<std::string> read = arguments.inputs;
    read.insert(read.end(), {tokenizer_path, tokenizer_config_file(tokenizer_path)});
    TokenFileWriter writer(arguments.out, format_of(arguments), tokenizer->vocab_size(), arguments.shard_tokens,
                           std::move(read));
    ProgressLine line(arguments.inputs);
    const TokenizeCounts counts = tokenize_files(
        arguments.inputs, *tokenizer, options, [&](std::span<const std::int32_t> ids) { writer.write(ids); },
        [&](const TokenizeCounts& so_far) { line.show(so_far.bytes, fmt::format("{} tokens", so_far.tokens)); });
    line.finish();
    if (counts.documents == 0) throw DataError(fmt::format("{}: there is no text", arguments.inputs.front()));
    writer.finish();
    // Standard output may be the tokens' place.
    write_notice(summary(counts, writer, watch.seconds()), arguments.out);
    if (const std::string beyond = writer.shard_beyond(); !beyond.empty()) {
        write_notice(fmt::format("note: {} is there too, from an earlier call; a pattern that matches the files above "
                                 "may match it\n",
                                 beyond),
                     arguments.out);
    }
    return exit_success;
}

}  // namespace

Command add_tokenize(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("tokenize", "Turn text into a file of token ids");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("INPUT", arguments->inputs, "Files of text")->required()->type_name("FILE");
    sub->add_option("--tokenizer", arguments->tokenizer, "A tokenizer.json, or the folder it is in")
        ->required()
        ->type_name("FILE");
    sub->add_option("--out", arguments->out, "The file to write")->required()->type_name("FILE");
    sub->add_option("--format", arguments->format, "How ids are written")
        ->check(CLI::IsMember({"nanogpt", "llmc", "npy"}));
    sub->add_option("--shard-tokens", arguments->shard_tokens, "Begin a new file after so many tokens; 0: one file")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0));
    CLI::Option* jsonl = sub->add_flag("--jsonl", arguments->jsonl, "Each line is a JSON object");
    sub->add_option("--field", arguments->field, "The member of the object that has the text [text]")
        ->type_name("NAME")
        ->needs(jsonl);
    sub->add_option("--start", arguments->start, "Token put before each document")->type_name("TOKEN");
    CLI::Option* separator =
        sub->add_option("--separator", arguments->separator, "Token put after each document")->type_name("TOKEN");
    sub->add_flag("--append-eos", arguments->append_eos, "Put eos_token of tokenizer_config.json after each document")
        ->excludes(separator);
    sub->add_option("--threads", arguments->threads, "0: as many as this process may use")
        ->type_name("N")
        ->check(whole_number<int>(0, 1024));
    sub->footer(footer);
    return {sub, [arguments] { return run_tokenize(*arguments); }};
}

}  // namespace causeway::cli
