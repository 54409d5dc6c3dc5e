#include "infer/generator.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "base/stopwatch.hpp"
#include "causeway/error.hpp"
#include "data/tokens.hpp"
#include "infer/stop_strings.hpp"
#include "io/checkpoint/load.hpp"
#include "io/run_folder.hpp"

namespace causeway::infer {
namespace {

/// Index of the first of n tokens that a model with a context of `capacity` tokens still sees.
std::int64_t window_begin(std::int64_t n, std::int64_t capacity) {
    if (n <= capacity) return 0;
    const std::int64_t hop = std::max<std::int64_t>(1, capacity / 2);
    return ceil_div(n - capacity, hop) * hop;
}

/// A sequence that grows.
class Row {
  public:
    Row(std::int64_t index, std::span<const std::int32_t> prompt, const GenerationOptions& options)
        : index_(index),
          prompt_size_(prompt.size()),
          options_(options),
          ids_(prompt.begin(), prompt.end()),
          sampler_(options.sampling, options.first_sequence + static_cast<std::uint64_t>(index)),
          stops_(options.stop),
          ended_(options.max_new_tokens == 0) {
        ids_.reserve(prompt.size() + std::min<std::size_t>(static_cast<std::size_t>(options.max_new_tokens), 1 << 20));
        sampler_.see(prompt);
    }

    bool ended() const { return ended_; }
    void cancel() {
        if (!ended_) end(FinishReason::cancelled);
    }

    /// The tokens that the decoder has not read yet; all that it can see when it has to read them anew.
    std::span<const std::int32_t> unread(Decoder& decoder) {
        if (ended_) return {};
        const auto begin =
            static_cast<std::size_t>(window_begin(static_cast<std::int64_t>(ids_.size()), decoder.capacity()));
        if (begin != window_begin_ || !options_.cache) {
            decoder.clear(index_);
            window_begin_ = read_ = begin;
        }
        return std::span(ids_).subspan(std::exchange(read_, ids_.size()));
    }

    /// Adds the token after these logits. False when the caller wants no more.
    bool extend(std::span<const float> logits) {
        const std::int32_t token = sampler_.next(logits);
        ids_.push_back(token);
        const bool eos = std::ranges::find(options_.eos_token_ids, token) != options_.eos_token_ids.end();
        if (options_.token_text && !eos) show(stops_.add(options_.token_text(token)));
        const bool goes_on = !options_.on_token || options_.on_token(index_, token);
        if (eos) {
            end(FinishReason::eos);
        } else if (stops_.stopped()) {
            end(FinishReason::stop);
        } else if (static_cast<std::int64_t>(ids_.size() - prompt_size_) == options_.max_new_tokens) {
            end(FinishReason::length);
        }
        return goes_on;
    }

    Continuation result() && {
        return {{ids_.begin() + static_cast<std::ptrdiff_t>(prompt_size_), ids_.end()}, std::move(text_), reason_};
    }

  private:
    void show(const std::string& text) {
        if (text.empty()) return;
        text_ += text;
        if (options_.on_text) options_.on_text(index_, text);
    }

    void end(FinishReason reason) {
        ended_ = true;
        reason_ = reason;
        show(stops_.finish());
    }

    std::int64_t index_;
    std::size_t prompt_size_;
    const GenerationOptions& options_;
    std::vector<std::int32_t> ids_;  ///< prompt and continuation
    Sampler sampler_;
    StopStrings stops_;
    std::string text_;
    std::size_t window_begin_ = 0, read_ = 0;  ///< indices into ids_
    bool ended_;
    FinishReason reason_ = FinishReason::length;
};

void check_causal(const ModelConfig& model) {
    if (!model.causal) {
        throw ConfigError(
            "model.causal: found false, expected true: a model whose tokens see what follows cannot "
            "generate");
    }
}

}  // namespace

void check_generation(const GenerationOptions& options) {
    check_sampling(options.sampling);
    if (options.max_new_tokens < 0) {
        throw ConfigError(
            fmt::format("max_new_tokens: found {}, expected an integer of at least 0", options.max_new_tokens));
    }
    if (!options.stop.empty() && !options.token_text) {
        throw ConfigError("stop: found strings, expected none: this model's tokens have no text");
    }
    const StopStrings checked(options.stop);
}

struct Generator::Impl {
    Impl(const Config& c, const DecoderOptions& options)
        : config(c), decoder(c, options), unread(static_cast<std::size_t>(options.batch)) {}
    Impl(const Config& c, const DecoderOptions& options, ModelRuntime& runtime)
        : config(c), decoder(c, options, runtime), unread(static_cast<std::size_t>(options.batch)) {}

    /// A token for every row that goes on. False when the caller wants no more.
    bool step(std::vector<Row>& rows) {
        std::ranges::fill(unread, std::span<const std::int32_t>{});
        for (std::size_t i = 0; i < rows.size(); ++i) unread[i] = rows[i].unread(decoder);
        decoder.feed(unread);
        bool goes_on = true;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows[i].ended()) goes_on = rows[i].extend(decoder.logits(static_cast<std::int64_t>(i))) && goes_on;
        }
        return goes_on;
    }

    void run(std::vector<Row>& rows) {
        const auto live = [&] { return std::ranges::count_if(rows, [](const Row& row) { return !row.ended(); }); };
        bool first = true;
        for (std::int64_t count = live(); count > 0; count = live()) {
            const Stopwatch watch;
            const bool goes_on = step(rows);
            (first ? times.prefill_seconds : times.decode_seconds) += watch.seconds();
            if (!std::exchange(first, false)) times.decoded_tokens += count;
            if (!goes_on) {
                for (Row& row : rows) row.cancel();
            }
        }
    }

    Config config;
    Decoder decoder;
    std::vector<std::span<const std::int32_t>> unread;  ///< by row
    GenerationTimes times;
};

Generator::Generator(const Config& config, const DecoderOptions& options)
    : impl_(std::make_unique<Impl>(config, options)) {
    check_causal(config.model);
}
Generator::Generator(const Config& config, const DecoderOptions& options, ModelRuntime& runtime)
    : impl_(std::make_unique<Impl>(config, options, runtime)) {
    check_causal(config.model);
}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

Generator Generator::from_run(const std::string& folder, const std::vector<std::string>& overrides,
                              const DecoderOptions& options) {
    const RunFolder run{folder};
    Generator generator(load_run(run, overrides), options);
    load_parameters(run.folder, generator.config().model, generator.parameters());
    generator.refresh();
    return generator;
}

const Config& Generator::config() const { return impl_->config; }
int Generator::threads() const { return impl_->decoder.runtime().pool().threads(); }
std::int64_t Generator::batch() const { return impl_->decoder.batch(); }
std::vector<NamedTensor> Generator::parameters() { return impl_->decoder.runtime().parameters(); }
void Generator::refresh() { impl_->decoder.runtime().refresh(); }
const GenerationTimes& Generator::times() const { return impl_->times; }

void Generator::check_prompt(std::span<const std::int32_t> ids) const {
    if (ids.empty()) throw DataError("the prompt is empty, expected at least one token");
    check_tokens(ids, impl_->config.model.vocab_size, "prompt");
}

std::span<const float> Generator::next_logits(std::span<const std::int32_t> ids) {
    check_prompt(ids);
    Decoder& decoder = impl_->decoder;
    const auto size = static_cast<std::int64_t>(ids.size());
    decoder.clear();
    std::ranges::fill(impl_->unread, std::span<const std::int32_t>{});
    impl_->unread[0] = ids.subspan(static_cast<std::size_t>(window_begin(size, decoder.capacity())));
    decoder.feed(impl_->unread);
    return decoder.logits(0);
}

std::vector<Continuation> Generator::generate(std::span<const std::vector<std::int32_t>> prompts,
                                              const GenerationOptions& options) {
    check_generation(options);
    if (static_cast<std::int64_t>(prompts.size()) > batch()) {
        throw DataError(fmt::format("found {} prompts, expected at most {}: the batch", prompts.size(), batch()));
    }
    for (const auto& prompt : prompts) check_prompt(prompt);
    impl_->times = {};
    impl_->decoder.clear();
    std::vector<Row> rows;
    rows.reserve(prompts.size());
    for (const auto& prompt : prompts) {
        rows.emplace_back(static_cast<std::int64_t>(rows.size()), prompt, options);
        impl_->times.prompt_tokens += static_cast<std::int64_t>(prompt.size());
    }
    impl_->run(rows);
    std::vector<Continuation> results;
    for (Row& row : rows) results.push_back(std::move(row).result());
    return results;
}

std::vector<std::int32_t> Generator::generate(std::span<const std::int32_t> prompt, const GenerationOptions& options) {
    const std::vector<std::int32_t> prompts[] = {{prompt.begin(), prompt.end()}};
    return std::move(generate(prompts, options).front().tokens);
}

std::string_view to_string(FinishReason reason) {
    constexpr std::array<std::string_view, 4> names{"length", "eos", "stop", "cancelled"};
    return names[static_cast<std::size_t>(reason)];
}

}  // namespace causeway::infer
