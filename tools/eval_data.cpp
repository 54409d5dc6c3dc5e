#include "eval_data.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "infer/data_evaluation.hpp"
#include "io/checkpoint/load.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"
#include "stop_signal.hpp"
#include "text.hpp"

namespace causeway::cli {
namespace {

/// Where nobody says, the name of the path does.
DataSource source_by_name(const std::string& path, const Config& config) {
    const auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
    if (ends(".bin") || ends(".npy")) return DataSource::tokens;
    if (!ends(".jsonl")) return DataSource::text;
    return config.data.source == DataSource::chat ? DataSource::chat : DataSource::jsonl;
}

DataSource source_named(const std::string& name) {
    return parse_config("{}", "--source", {"data.source=" + name}).data.source;
}

void check_asked(const EvalData& asked, const Config& config, DataSource source, bool by_bytes) {
    DataConfig data;
    data.source = source;
    if (data.is_task()) {
        if (asked.path.empty()) return;
        throw DataError(fmt::format("--data {}: --source {} makes its rows itself", asked.path, asked.source));
    }
    if (asked.path.empty()) {
        throw DataError(fmt::format("--source {}: reads files; say which with --data", asked.source));
    }
    if (source != DataSource::tokens && config.data.tokenizer.empty() && !by_bytes) {
        throw DataError(
            fmt::format("--data {}: this model was not trained on bytes and has no tokenizer.json beside it; "
                        "give one with --tokenizer",
                        asked.path));
    }
}

/// What the model's config says, with other data where some are asked for.
Config config_for(const EvalData& asked) {
    std::vector<std::string> overrides = asked.overrides;
    if (asked.batch_size > 0) overrides.push_back(fmt::format("train.batch_size={}", asked.batch_size));
    if (asked.sequence_length > 0) {
        overrides.push_back(fmt::format("train.sequence_length={}", asked.sequence_length));
        overrides.push_back("data.validation_stride=0");
    }
    if (asked.stride > 0) overrides.push_back(fmt::format("data.validation_stride={}", asked.stride));
    Config config = load_run({asked.model}, overrides);
    const bool by_bytes = reads_text(config) && config.data.tokenizer.empty();
    const std::string own = find_tokenizer({asked.model}, config);
    if (!asked.tokenizer.empty()) {
        config.data.tokenizer = asked.tokenizer;
    } else if (!own.empty()) {
        config.data.tokenizer = own;
    }
    if (asked.path.empty() && asked.source.empty()) {
        const bool has_data = config.data.is_task() || !config.data.path.empty() || !config.data.mixture.empty();
        if (has_data) return config;
        throw DataError(
            fmt::format("{}: says nothing of the data it was validated on; give some with --data", asked.model));
    }
    const DataSource source = asked.source.empty() ? source_by_name(asked.path, config) : source_named(asked.source);
    check_asked(asked, config, source, by_bytes);
    Config other = evaluation_config(config, asked.path, source);
    if (asked.stride > 0) other.data.validation_stride = asked.stride;
    return other;
}

std::string loss_text(const DataLoss& loss) {
    if (loss.targets == 0) return "loss n/a: no target counts\n";
    std::string text = fmt::format("loss {:.9f}\nperplexity {:.6g}\n", loss.loss, loss.perplexity());
    if (const auto bits = loss.bits_per_byte) text += fmt::format("bits_per_byte {:.6f}\n", *bits);
    if (loss.accuracy) text += fmt::format("accuracy {:.6f}\n", *loss.accuracy);
    text += fmt::format("targets {}\n", loss.targets);
    if (loss.bytes) text += fmt::format("bytes {}\n", *loss.bytes);
    return text + fmt::format("seconds {:.2f}\n", loss.seconds);
}

template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string loss_json(const DataLoss& loss, const std::string& description) {
    const bool any = loss.targets > 0;
    const auto known = [&](double value) { return json_of(any ? std::optional(value) : std::nullopt); };
    const nlohmann::ordered_json json{{"data", description},
                                      {"loss", known(loss.loss)},
                                      {"perplexity", known(loss.perplexity())},
                                      {"bits_per_byte", json_of(loss.bits_per_byte)},
                                      {"accuracy", json_of(loss.accuracy)},
                                      {"targets", loss.targets},
                                      {"bytes", json_of(loss.bytes)},
                                      {"seconds", loss.seconds}};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int eval_on_data(const EvalData& asked) {
    const Config config = config_for(asked);
    const StoredTensors stored = StoredTensors::open(asked.model);
    DataEvaluation evaluation(config);
    ModelRuntime& runtime = evaluation.runtime();
    warn_of_unused("causeway eval", asked.model,
                   load_checkpoint(stored, layout_of(stored, config.model), runtime.parameters()));
    runtime.refresh();
    if (!asked.json) print(fmt::format("data {}\n", evaluation.description()));

    const StopSignal stop;
    const bool drawn = stdout_is_terminal() && !asked.json;
    const auto loss = evaluation.run([&](std::int64_t done, std::int64_t all) {
        if (drawn) print(done < all ? fmt::format("\rbatch {} of {}", done, all) : "\r\x1b[K");
        return !stop.flag().load();
    });
    if (!loss) {
        if (drawn) print("\n");
        complain("causeway eval", fmt::format("ended by {} before all batches were run", stop.name()));
        return 128 + stop.number();
    }
    print(asked.json ? loss_json(*loss, evaluation.description()) : loss_text(*loss));
    return exit_success;
}

}  // namespace causeway::cli
