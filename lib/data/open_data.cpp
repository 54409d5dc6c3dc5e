#include "data/open_data.hpp"

#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/document_rows.hpp"
#include "data/mixture.hpp"
#include "data/open_tokens.hpp"
#include "data/task.hpp"
#include "data/window_sources.hpp"

namespace causeway {
namespace {

/// Enough for an accuracy to half a percent on rows of some 50 scored positions, and done in a moment.
constexpr std::int64_t task_validation_size = 256;

using Source = std::unique_ptr<BatchSource>;

WindowSettings settings_for(const Config& config, TokenPart tokens, const std::string& name, std::uint64_t seed) {
    return {std::move(tokens), name, config.train.batch_size, config.train.sequence_length, seed};
}

Source training_rows(const Config& config, const TokenPart& tokens, const std::string& name, std::uint64_t seed) {
    const WindowSettings settings = settings_for(config, tokens, name, seed);
    const bool random = config.data.sampling == Sampling::random;
    if (config.data.packing) return random ? random_windows(settings) : epoch_windows(settings);
    return random ? random_documents(settings) : epoch_documents(settings);
}

Source validation_rows(const Config& config, const TokenPart& tokens, const std::string& name) {
    const WindowSettings settings = settings_for(config, tokens, name, config.train.seed);
    if (!config.data.packing) return validation_documents(settings);
    return validation_windows(settings, config.data.validation_stride);
}

std::string size_text(const Config& config, const TokenPart& part) {
    if (config.data.packing) return fmt::format("{} tokens", part.size);
    return fmt::format("{} documents of {} tokens", part.documents, part.size);
}

/// What happened to the text on the way to tokens.
std::string encoding_text(const Config& config, const OpenedTokens& opened) {
    std::string text;
    if (opened.encoded) text = fmt::format("; encoded in {:.1f} s", opened.encoding_seconds);
    if (config.data.packing) return text;
    const std::int64_t length = config.train.sequence_length;
    const std::int64_t cut = count_cut_documents(whole(opened.store), length);
    if (cut > 0) text += fmt::format("; {} documents are cut after {} tokens", cut, length + 1);
    return text;
}

/// Opens the parts one after the other and gathers what they are.
class Opener {
  public:
    Opener(const Config& config, std::shared_ptr<const Tokenizer> tokenizer)
        : config_(config), tokenizer_(std::move(tokenizer)) {}

    DataSources open() {
        const std::vector<DataPart>& mixture = config_.data.mixture;
        if (mixture.empty()) {
            open_part(config_.data.path, "data.path", config_.train.seed, "");
        } else {
            for (std::size_t i = 0; i < mixture.size(); ++i) open_mixture_part(i);
        }
        if (!config_.data.validation_path.empty()) open_validation_path();
        return finish();
    }

    DataSources open_validation_alone() {
        open_validation_path();
        return finish();
    }

  private:
    void open_mixture_part(std::size_t i) {
        const std::vector<DataPart>& mixture = config_.data.mixture;
        double sum = 0;
        for (const DataPart& part : mixture) sum += part.weight;
        open_part(mixture[i].path, fmt::format("data.mixture[{}].path", i), seed_of_part(config_.train.seed, i),
                  fmt::format("{:.4g}% ", 100 * mixture[i].weight / sum));
    }

    void open_part(const std::string& path, const std::string& field, std::uint64_t seed, const std::string& share) {
        const OpenedTokens opened = open_tokens(config_, path, field, tokenizer_);
        const bool apart = !config_.data.validation_path.empty();
        const double fraction = config_.data.validation_fraction;
        const TokenSplit split = apart                  ? TokenSplit{whole(opened.store), {}}
                                 : config_.data.packing ? split_tokens(opened.store, fraction)
                                                        : split_documents(opened.store, fraction);
        train_.push_back(training_rows(config_, split.train, opened.name, seed));
        std::string text = fmt::format("{}{}, {} to train on", share, opened.name, size_text(config_, split.train));
        if (!apart) {
            validation_.push_back(validation_rows(config_, split.validation, opened.name));
            text += fmt::format(", {} to validate on", config_.data.packing ? fmt::format("{}", split.validation.size)
                                                                            : size_text(config_, split.validation));
        }
        texts_.push_back(text + encoding_text(config_, opened));
    }

    void open_validation_path() {
        const OpenedTokens opened =
            open_tokens(config_, config_.data.validation_path, "data.validation_path", tokenizer_);
        const TokenPart all = whole(opened.store);
        validation_.push_back(validation_rows(config_, all, opened.name));
        texts_.push_back(fmt::format("{}, {} to validate on{}", opened.name, size_text(config_, all),
                                     encoding_text(config_, opened)));
    }

    DataSources finish() {
        DataSources data;
        std::vector<double> weights;
        for (const DataPart& part : config_.data.mixture) weights.push_back(part.weight);
        if (train_.size() == 1) data.train = std::move(train_[0]);
        if (train_.size() > 1) data.train = mixture_rows(std::move(train_), weights, config_.train.seed);
        data.validation = validation_.size() == 1 ? std::move(validation_[0]) : rows_in_turn(std::move(validation_));
        data.description = fmt::format("{}", fmt::join(texts_, " + "));
        data.tokenizer = tokenizer_;
        if (tokenizer_ != nullptr) data.bytes = std::make_shared<const TokenBytes>(*tokenizer_);
        return data;
    }

    const Config& config_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::vector<Source> train_, validation_;
    std::vector<std::string> texts_;
};

/// The tokenizer that the config's data are read with; null for numbers that need none.
std::shared_ptr<const Tokenizer> tokenizer_for(const Config& config) {
    if (config.data.is_task()) return nullptr;
    if (config.data.source == DataSource::tokens && config.data.tokenizer.empty()) return nullptr;
    return open_tokenizer(config.data.tokenizer);
}

void check_tokenizer(const Config& config, const Tokenizer* tokenizer) {
    if (tokenizer == nullptr || tokenizer->vocab_size() <= config.model.vocab_size) return;
    throw ConfigError(fmt::format("model.vocab_size: found {}, expected at least {}, the number of tokens of {}",
                                  config.model.vocab_size, tokenizer->vocab_size(),
                                  config.data.tokenizer.empty() ? "bytes" : config.data.tokenizer));
}

DataSources open_task(const Config& config, const TaskEntry& task) {
    return {task_rows(config), task_validation_rows(config, task_validation_size),
            fmt::format("built-in task {}: {}", task.name, task.summary)};
}

}  // namespace

DataSources open_data(const Config& config) { return open_data(config, tokenizer_for(config)); }

DataSources open_data(const Config& config, std::shared_ptr<const Tokenizer> tokenizer) {
    if (const TaskEntry* task = find_task(config.data.source)) return open_task(config, *task);
    if (config.data.path.empty() && config.data.mixture.empty()) {
        throw ConfigError("data.path: is empty, expected the file, pattern or folder to train on");
    }
    check_tokenizer(config, tokenizer.get());
    return Opener(config, std::move(tokenizer)).open();
}

DataSources open_validation(const Config& config) {
    if (config.data.is_task() || config.data.validation_path.empty()) {
        DataSources data = open_data(config);
        data.train = nullptr;
        return data;
    }
    const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_for(config);
    check_tokenizer(config, tokenizer.get());
    return Opener(config, tokenizer).open_validation_alone();
}

}  // namespace causeway
