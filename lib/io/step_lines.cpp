#include "io/step_lines.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "causeway/error.hpp"
#include "io/atomic_file.hpp"

namespace causeway {
namespace {

bool stays(const std::string& line, std::int64_t step) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) return false;
    const auto found = object.find("step");
    return found != object.end() && found->is_number_integer() && found->get<std::int64_t>() <= step;
}

/// Calls f(line, whole) for each line; whole: with its newline.
template <class F>
void for_each_line(const std::string& path, F&& f) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw IoError(path + ": cannot be read");
    std::string line;
    while (std::getline(file, line)) f(line, !file.eof());
    if (file.bad()) throw IoError(path + ": cannot be read");
}

}  // namespace

std::int64_t cut_lines_after(const std::string& path, std::int64_t step) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return 0;
    std::int64_t gone = 0;
    for_each_line(path, [&](const std::string& line, bool whole) { gone += whole && stays(line, step) ? 0 : 1; });
    if (gone == 0) return 0;
    AtomicFile file(path);
    for_each_line(path, [&](std::string& line, bool whole) {
        if (!whole || !stays(line, step)) return;
        line += '\n';
        file.write(std::as_bytes(std::span(line)));
    });
    file.commit();
    return gone;
}

}  // namespace causeway
