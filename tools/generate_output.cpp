#include "generate_output.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output.hpp"

namespace causeway::cli {
namespace {

/// 0 when nothing was measured.
double rate(std::int64_t tokens, double seconds) { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; }

}  // namespace

void GenerationPrinter::connect(infer::GenerationOptions& options) {
    sampling_ = options.sampling;
    if (!output_.stream) return;
    const auto show = [](const std::string& piece) {
        if (!piece.empty()) print(piece);
    };
    if (output_.tokenizer != nullptr) {
        options.on_text = [this, show](std::int64_t, std::string_view text) { show(printer_.add_text(text)); };
    } else {
        options.on_token = [this, show](std::int64_t, std::int32_t token) {
            show(printer_.add(token));
            return true;
        };
    }
}

void GenerationPrinter::begin(std::span<const Prompt> prompts) {
    if (!output_.stream) return;
    printer_ = make_printer();
    std::string start;
    for (const std::int32_t token : prompts.front()) start += printer_.add(token);
    print(start);
}

void GenerationPrinter::end(std::span<const Prompt> prompts, const std::vector<infer::Continuation>& results,
                            const infer::GenerationTimes& times) {
    total_.prompt_tokens += times.prompt_tokens;
    total_.decoded_tokens += times.decoded_tokens;
    total_.prefill_seconds += times.prefill_seconds;
    total_.decode_seconds += times.decode_seconds;
    if (output_.stream) return print(printer_.finish() + "\n");
    std::string out;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        out += output_.json ? json_line(prompts[i], results[i], times) : printable(prompts[i], results[i]) + "\n";
    }
    print(out);
}

std::string GenerationPrinter::printable(std::span<const std::int32_t> tokens) const {
    TokenPrinter printer = make_printer();
    std::string out;
    for (const std::int32_t token : tokens) out += printer.add(token);
    return out + printer.finish();
}

std::string GenerationPrinter::printable(const Prompt& prompt, const infer::Continuation& result) const {
    TokenPrinter printer = make_printer();
    std::string out;
    for (const std::int32_t token : prompt) out += printer.add(token);
    if (output_.tokenizer != nullptr) {
        out += printer.add_text(result.text);
    } else {
        for (const std::int32_t token : result.tokens) out += printer.add(token);
    }
    return out + printer.finish();
}

std::string GenerationPrinter::json_line(const Prompt& prompt, const infer::Continuation& result,
                                         const infer::GenerationTimes& times) const {
    const double seconds = times.prefill_seconds + times.decode_seconds;
    const nlohmann::ordered_json object{
        {"prompt", printable(prompt)},
        {"text", output_.tokenizer != nullptr ? result.text : printable(result.tokens)},
        {"prompt_ids", prompt},
        {"ids", result.tokens},
        {"finish_reason", to_string(result.reason)},
        {"tokens_per_second", rate(static_cast<std::int64_t>(result.tokens.size()), seconds)},
        {"temperature", sampling_.temperature},
        {"top_k", sampling_.top_k},
        {"top_p", sampling_.top_p},
        {"min_p", sampling_.min_p},
        {"repetition_penalty", sampling_.repetition_penalty},
        {"seed", sampling_.seed}};
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void GenerationPrinter::print_statistics() const {
    complain(
        "causeway generate",
        fmt::format("read {} tokens in {:.3f} s ({:.1f} tokens/s), generated {} more in {:.3f} s ({:.1f} tokens/s)",
                    total_.prompt_tokens, total_.prefill_seconds, rate(total_.prompt_tokens, total_.prefill_seconds),
                    total_.decoded_tokens, total_.decode_seconds, rate(total_.decoded_tokens, total_.decode_seconds)));
}

}  // namespace causeway::cli
