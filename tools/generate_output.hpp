#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infer/generator.hpp"
#include "prompts.hpp"
#include "text.hpp"

namespace causeway::cli {

struct GenerationOutput {
    std::shared_ptr<const Tokenizer> tokenizer;  ///< null: tokens are numbers
    bool clean = false;                          ///< for a terminal: see TokenPrinter
    bool json = false;                           ///< an object a prompt
    bool stream = false;  ///< print while tokens come; otherwise when a group of prompts has ended
};

/// Prints prompts and what came after them.
class GenerationPrinter {
  public:
    explicit GenerationPrinter(const GenerationOutput& output) : output_(output), printer_(make_printer()) {}

    /// Adds the callbacks that print while tokens come. The printer must outlive the options.
    void connect(infer::GenerationOptions& options);
    /// Before and after a group of prompts.
    void begin(std::span<const Prompt> prompts);
    void end(std::span<const Prompt> prompts, const std::vector<infer::Continuation>& results,
             const infer::GenerationTimes& times);

    /// Tokens and tokens a second of all groups, on standard error.
    void print_statistics() const;

  private:
    TokenPrinter make_printer() const { return {output_.tokenizer, output_.clean && !output_.json}; }
    std::string printable(std::span<const std::int32_t> tokens) const;
    std::string printable(const Prompt& prompt, const infer::Continuation& result) const;
    std::string json_line(const Prompt& prompt, const infer::Continuation& result,
                          const infer::GenerationTimes& times) const;

    GenerationOutput output_;
    TokenPrinter printer_;  ///< of the sequence that is printed while it grows
    infer::SamplingOptions sampling_;
    infer::GenerationTimes total_;
};

}  // namespace causeway::cli
