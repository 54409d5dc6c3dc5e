#include "train_files.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/atomic_folder.hpp"
#include "io/data_files.hpp"
#include "io/mapped_file.hpp"
#include "io/temporary_name.hpp"
#include "io/tokenizer/tokenizer_config.hpp"
#include "train/run_checkpoints.hpp"

namespace causeway::cli {
namespace {

namespace fs = std::filesystem;

std::array<std::string, 8> files_of(const RunFolder& run) {
    return {run.parameters(),
            run.metrics(),
            run.samples(),
            run.card(),
            run.report(),
            run.tokenizer(),
            tokenizer_config_file(run.tokenizer()),
            run.config()};
}

/// TensorBoard would show an older run's events as part of this one.
void remove_events(const RunFolder& run) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(run.events(), ignored)) {
        if (entry.path().filename().string().starts_with("events.out.tfevents.")) fs::remove(entry.path(), ignored);
    }
}

/// True for a config as a run writes it, which the next run can write again.
bool is_resolved_config(const std::string& path) {
    try {
        const std::string text = to_json(load_config(path));
        const MappedFile file(path);
        return file.size() == text.size() && std::memcmp(file.bytes().data(), text.data(), text.size()) == 0;
    } catch (const Error&) {
        return false;
    }
}

/// A file of the folder that would be missed. A run that ended before its first step leaves a resolved config and empty
/// metrics only.
std::string file_to_keep(const RunFolder& run) {
    std::error_code ignored;
    if (fs::exists(run.parameters(), ignored)) return run.parameters();
    if (!train::list_checkpoints(run).empty()) return run.checkpoints();
    if (fs::exists(run.metrics(), ignored) && !fs::is_empty(run.metrics(), ignored)) return run.metrics();
    return fs::exists(run.config(), ignored) && !is_resolved_config(run.config()) ? run.config() : "";
}

/// What the run writes must not be what it reads.
void check_inputs(const RunFolder& run, const Config& config) {
    const auto outputs = files_of(run);
    for (const std::string& input : data_files(config.data)) {
        if (find_same_file(input, outputs) == nullptr) continue;
        throw IoError(
            fmt::format("{}: is read as data and would be replaced by the run's own; choose another --out", input));
    }
}

void check_folder(const RunFolder& run, bool overwrite) {
    if (run.folder.empty()) throw IoError("--out: is empty, expected a folder for the run");
    std::error_code ignored;
    if (fs::exists(run.folder, ignored) && !fs::is_directory(run.folder, ignored)) {
        throw IoError(fmt::format("{}: exists and is no folder, expected one for the run (--out)", run.folder));
    }
    if (overwrite) return;
    const std::string file = file_to_keep(run);
    if (file.empty()) return;
    throw IoError(
        fmt::format("{}: holds a run already ({}); --resume {} goes on with it, --overwrite replaces it, or "
                    "choose another --out",
                    run.folder, fs::path(file).filename().string(), run.folder));
}

}  // namespace

void check_trace(const TrainFiles& files, const Config& config) {
    if (files.trace.empty()) return;
    std::error_code ignored;
    if (fs::is_directory(files.trace, ignored) || lead_to_same_file(files.trace, files.run.folder)) {
        throw IoError(fmt::format("--trace: {} is a folder, expected a file to write", files.trace));
    }
    const auto refuse = [&](std::span<const std::string> others, const char* what) {
        const std::string* other = find_same_file(files.trace, others);
        if (other == nullptr) return;
        throw IoError(fmt::format("--trace: {} is {} ({}), which it would replace; choose another file", files.trace,
                                  what, *other));
    };
    refuse(files_of(files.run), "a file of the run");
    if (!files.config.empty()) refuse({&files.config, 1}, "the config");
    refuse(data_files(config.data), "the data");
}

void check_files(const TrainFiles& files, const Config& config) {
    check_folder(files.run, files.overwrite);
    check_inputs(files.run, config);
    check_trace(files, config);
}

FolderLock empty_folder(const TrainFiles& files) {
    make_folder(files.run.folder);
    FolderLock lock(files.run.folder);
    check_folder(files.run, files.overwrite);  // another run may have begun and ended meanwhile
    if (!files.trace.empty()) check_can_write(files.trace);
    check_can_write(files.run.config());
    remove_abandoned(files.run.folder);
    std::error_code ignored;
    for (const std::string& file : files_of(files.run)) fs::remove(file, ignored);
    remove_events(files.run);
    if (fs::exists(files.run.checkpoints(), ignored)) remove_folder(files.run.checkpoints());
    return lock;
}

void write_config(const RunFolder& run, const Config& config) {
    copy_tokenizer(config.data.tokenizer, run);
    write_text_atomically(run.config(), to_json(config));
}

}  // namespace causeway::cli
