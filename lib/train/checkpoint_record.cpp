#include "train/checkpoint_record.hpp"

#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway::train {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json value_or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json json_of(const GuardState& guards) {
    return {{"weighted_norms", guards.weighted_norms},
            {"weights", guards.weights},
            {"updates", guards.updates},
            {"skipped", guards.skipped},
            {"skipped_in_a_row", guards.skipped_in_a_row}};
}

GuardState read_guards(const Json& json) {
    GuardState guards;
    json.at("weighted_norms").get_to(guards.weighted_norms);
    json.at("weights").get_to(guards.weights);
    json.at("updates").get_to(guards.updates);
    json.at("skipped").get_to(guards.skipped);
    json.at("skipped_in_a_row").get_to(guards.skipped_in_a_row);
    return guards;
}

TrainerState read_trainer(const Json& json) {
    TrainerState state;
    json.at("step").get_to(state.step);
    json.at("window").get_to(state.window);
    json.at("updates").get_to(state.updates);
    json.at("epoch_loss").get_to(state.epoch_loss);
    json.at("epoch_tokens").get_to(state.epoch_tokens);
    json.at("elapsed_s").get_to(state.elapsed_seconds);
    state.guards = read_guards(json.at("guards"));
    return state;
}

CheckpointRecord read(const Json& json, const std::string& path) {
    const auto format = json.at("format").get<std::int64_t>();
    if (format > CheckpointRecord::format) {
        throw IoError(
            fmt::format("{}: found format {}, expected at most {}: causeway {} wrote it, use that or a newer one", path,
                        format, CheckpointRecord::format, json.value("causeway", std::string("?"))));
    }
    CheckpointRecord record;
    record.trainer = read_trainer(json);
    if (const Json& loss = json.at("val_loss"); !loss.is_null()) record.validation_loss = loss.get<double>();
    if (const Json& best = json.at("best"); !best.is_null()) {
        record.best = BestEvaluation{best.at("step").get<std::int64_t>(), best.at("val_loss").get<double>()};
    }
    json.at("metrics").get_to(record.metrics_line);
    json.at("data_fingerprint").get_to(record.data_fingerprint);
    json.at("isa").get_to(record.isa);
    json.at("causeway").get_to(record.version);
    return record;
}

}  // namespace

std::string to_json(const CheckpointRecord& record) {
    Json json;
    json["format"] = CheckpointRecord::format;
    json["causeway"] = record.version;
    json["isa"] = record.isa;
    json["step"] = record.trainer.step;
    json["window"] = record.trainer.window;
    json["updates"] = record.trainer.updates;
    json["epoch_loss"] = record.trainer.epoch_loss;
    json["epoch_tokens"] = record.trainer.epoch_tokens;
    json["elapsed_s"] = record.trainer.elapsed_seconds;
    json["guards"] = json_of(record.trainer.guards);
    json["val_loss"] = value_or_null(record.validation_loss);
    json["best"] = nullptr;
    if (record.best) json["best"] = {{"step", record.best->step}, {"val_loss", record.best->loss}};
    json["data_fingerprint"] = record.data_fingerprint;
    json["metrics"] = record.metrics_line;
    return json.dump(2) + "\n";
}

CheckpointRecord parse_record(const std::string& json, const std::string& path) {
    try {
        return read(Json::parse(json), path);
    } catch (const Json::exception& error) {
        throw IoError(fmt::format("{}: is not the state of a checkpoint: {}", path, error.what()));
    }
}

}  // namespace causeway::train
