#include "io/tensorboard/event_file.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/format.hpp"
#include "io/run_folder.hpp"
#include "io/tensorboard/record.hpp"

namespace causeway::tensorboard {
namespace {

double wall_time() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
    return name.data();
}

/// TensorBoard reads the files of a folder in the order of their names.
std::string new_path(const std::string& folder) {
    make_folder(folder);
    const std::string start = fmt::format("{}/events.out.tfevents.{:010}.{}.{}", folder,
                                          static_cast<std::int64_t>(std::floor(wall_time())), host_name(), getpid());
    for (int n = 0;; ++n) {
        std::string path = fmt::format("{}.{}", start, n);
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) return path;
    }
}

}  // namespace

EventFile::EventFile(const std::string& folder) : file_(new_path(folder), AppendFile::Mode::truncate) {
    file_.write(record(version_event(wall_time())));
}

void EventFile::write_start(std::int64_t step) { file_.write(record(start_event(wall_time(), step))); }

void EventFile::write_scalars(std::int64_t step, std::span<const Scalar> scalars) {
    file_.write(record(scalar_event(wall_time(), step, scalars)));
}

void EventFile::write_text(std::int64_t step, std::string_view tag, std::string_view text) {
    file_.write(record(text_event(wall_time(), step, tag, text)));
}

}  // namespace causeway::tensorboard
