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

/// field(key, member) for each number of the guards, in the file's order; the trainer's below likewise. Writing and
/// reading go through the same list, so that neither can know a number the other does not.
template <class Guards, class Field>
void visit_guards(Guards& guards, const Field& field) {
    field("weighted_norms", guards.weighted_norms);
    field("weights", guards.weights);
    field("updates", guards.updates);
    field("skipped", guards.skipped);
    field("skipped_in_a_row", guards.skipped_in_a_row);
}

template <class State, class Field>
void visit_trainer(State& state, const Field& field) {
    field("step", state.step);
    field("window", state.window);
    field("updates", state.updates);
    field("epoch_loss", state.epoch_loss);
    field("epoch_tokens", state.epoch_tokens);
    field("elapsed_s", state.elapsed_seconds);
}

auto writer_to(Json& json) {
    return [&json](const char* key, const auto& value) { json[key] = value; };
}

auto reader_of(const Json& json) {
    return [&json](const char* key, auto& value) { json.at(key).get_to(value); };
}

CheckpointRecord read(const Json& json, const std::string& path) {
    const auto format = json.at("format").get<std::int64_t>();
    if (format > CheckpointRecord::format) {
        throw IoError(
            fmt::format("{}: found format {}, expected at most {}: causeway {} wrote it, use that or a newer one", path,
                        format, CheckpointRecord::format, json.value("causeway", std::string("?"))));
    }
    CheckpointRecord record;
    visit_trainer(record.trainer, reader_of(json));
    visit_guards(record.trainer.guards, reader_of(json.at("guards")));
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
    visit_trainer(record.trainer, writer_to(json));
    visit_guards(record.trainer.guards, writer_to(json["guards"]));
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
