#include "inspect/report/samples.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace causeway::report {

Samples read_samples(const std::string& path) {
    Samples samples;
    std::ifstream file(path, std::ios::binary);
    std::string line;
    while (std::getline(file, line)) {
        const auto object = nlohmann::json::parse(line, nullptr, false);
        if (!object.is_object()) continue;
        const auto step = object.find("step"), prompt = object.find("prompt"), text = object.find("text");
        if (step == object.end() || !step->is_number_integer() || text == object.end() || !text->is_string()) continue;
        const bool has_prompt = prompt != object.end() && prompt->is_string();
        samples.shown.push_back(
            {step->get<std::int64_t>(), has_prompt ? prompt->get<std::string>() : "", text->get<std::string>()});
        if (samples.shown.size() > Samples::first + Samples::latest) {
            samples.shown.erase(samples.shown.begin() + Samples::first);
            ++samples.left_out;
        }
    }
    return samples;
}

}  // namespace causeway::report
