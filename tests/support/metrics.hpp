#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The lines of metrics.jsonl in the folder of a run.
inline std::vector<nlohmann::json> metrics_of(const std::string& run) {
    std::vector<nlohmann::json> lines;
    std::ifstream file(run + "/metrics.jsonl");
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
}
