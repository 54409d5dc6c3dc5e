#include "inspect/report/run_history.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "causeway/error.hpp"

namespace causeway::report {
namespace {

using Json = nlohmann::json;

/// NaN for null, which stands for a number that is not finite; none when the key is missing or something else.
std::optional<double> number(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
    return found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::vector<std::vector<double>> matrix(const Json& object, const char* key) {
    const auto found = object.find(key);
    std::vector<std::vector<double>> rows;
    if (found == object.end() || !found->is_array()) return rows;
    for (const Json& row : *found) {
        const auto is_number = [](const Json& value) { return value.is_number(); };
        if (!row.is_array() || row.empty() || !std::ranges::all_of(row, is_number)) return {};
        rows.push_back(row.get<std::vector<double>>());
    }
    return rows;
}

}  // namespace

void StepList::add(std::int64_t step) {
    ++count;
    if (steps.size() < shown) steps.push_back(step);
}

void RunHistory::read(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::int64_t size = file ? static_cast<std::int64_t>(file.tellg()) : -1;
    if (size < 0) throw IoError(path + ": cannot be read");
    if (size < read_bytes_) *this = {};
    file.seekg(read_bytes_);
    std::string line;
    while (std::getline(file, line) && !file.eof()) {  // eof: no newline yet
        read_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
        add_line(line);
    }
}

void RunHistory::add_line(std::string_view line) {
    const Json object = Json::parse(line, nullptr, false);
    const auto number_of = object.is_object() ? object.find("step") : object.end();
    if (number_of == object.end() || !number_of->is_number_integer() || number_of->get<std::int64_t>() < 1) {
        ++unreadable;
        return;
    }
    steps = number_of->get<std::int64_t>();
    if (const auto elapsed = number(object, "elapsed_s"); elapsed && std::isfinite(*elapsed)) seconds = *elapsed;
    const auto end = object.find("ended_by");
    ended_by = end != object.end() && end->is_string() ? end->get<std::string>() : "";
    const auto add = [&](Curve& curve, const char* key) {
        const std::optional<double> value = number(object, key);
        if (value && std::isfinite(*value)) curve.add(static_cast<double>(steps), seconds, *value);
        return value;
    };
    const auto updated = object.find("updated");
    const bool idle = updated != object.end() && updated->is_boolean() && !updated->get<bool>();
    if (idle) skipped.add(steps);
    // Where no target counted, loss and norm are 0 and mean nothing.
    const auto add_counted = [&](Curve& curve, const char* key) {
        const std::optional<double> value = number(object, key);
        return idle && value && std::isfinite(*value) ? std::nullopt : add(curve, key);
    };
    const auto loss_found = add_counted(loss, "loss"), norm_found = add_counted(grad_norm, "grad_norm");
    const auto is_wrong = [](const std::optional<double>& value) { return value && !std::isfinite(*value); };
    if (is_wrong(loss_found) || is_wrong(norm_found)) not_finite.add(steps);
    if (loss_found) last_loss = *loss_found;
    add(learning_rate, "learning_rate");
    add(tokens_per_second, "tokens_per_second");
    add(epoch_loss, "epoch_mean_loss");
    add(accuracy, "val_accuracy");
    add(bits_per_byte, "val_bits_per_byte");
    add(aux_loss, "aux_loss");
    if (const auto found = add(validation, "val_loss"); found && std::isfinite(*found)) {
        last_validation = found;
        if (!best_validation || *found < *best_validation) {
            best_validation = found;
            best_step = steps;
        }
    }
    if (auto found = matrix(object, "expert_load"); !found.empty()) {
        double least = 1, most = 0;
        for (const auto& layer : found) {
            least = std::min(least, *std::ranges::min_element(layer));
            most = std::max(most, *std::ranges::max_element(layer));
        }
        least_load.add(static_cast<double>(steps), seconds, least);
        most_load.add(static_cast<double>(steps), seconds, most);
        load = std::move(found);
    }
}

}  // namespace causeway::report
