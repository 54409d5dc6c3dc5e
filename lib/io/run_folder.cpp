#include "io/run_folder.hpp"

#include <filesystem>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/checkpoint/llmc_checkpoint.hpp"
#include "io/mapped_file.hpp"
#include "io/safetensors.hpp"
#include "io/tokenizer/tokenizer.hpp"
#include "io/tokenizer/tokenizer_config.hpp"

namespace causeway {

namespace {

void copy_file(const std::string& from, const std::string& to) {
    if (lead_to_same_file(from, to)) return;
    copy_file_atomically(from, to);
}

}  // namespace

void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", folder, error.message()));
}

void save_run(const RunFolder& run, const Config& config, std::span<const NamedTensor> parameters) {
    make_folder(run.folder);
    write_text_atomically(run.config(), to_json(config));
    write_safetensors(run.parameters(), to_write(parameters));
    copy_tokenizer(config.data.tokenizer, run);
}

void copy_tokenizer(const std::string& path, const RunFolder& run) {
    std::error_code ignored;
    if (path.empty() ||
        (!std::filesystem::exists(path, ignored) && std::filesystem::exists(run.tokenizer(), ignored))) {
        return;
    }
    const std::string file = tokenizer_file(path);
    copy_file(file, run.tokenizer());
    const std::string settings = tokenizer_config_file(file);
    if (std::filesystem::exists(settings, ignored)) copy_file(settings, tokenizer_config_file(run.tokenizer()));
}

std::string find_tokenizer(const RunFolder& run, const Config& config) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::exists(run.tokenizer(), ignored)) return run.tokenizer();
    const fs::path parent = fs::absolute(run.folder, ignored).lexically_normal().parent_path();
    const RunFolder above{parent.parent_path().string()};
    if (parent == above.checkpoints() && fs::exists(above.tokenizer(), ignored)) return above.tokenizer();
    return !config.data.tokenizer.empty() && fs::exists(config.data.tokenizer, ignored) ? config.data.tokenizer : "";
}

Config load_run(const RunFolder& run, const std::vector<std::string>& overrides) {
    if (is_llmc_checkpoint(run.folder)) {
        return parse_config(to_json(LlmcCheckpoint(run.folder).config()), run.folder, overrides);
    }
    std::error_code ignored;
    if (!std::filesystem::is_directory(run.folder, ignored)) {
        throw IoError(fmt::format("{}: is not the folder of a run: there is no such folder", run.folder));
    }
    if (!std::filesystem::exists(run.config(), ignored)) {
        throw IoError(fmt::format("{}: is not the folder of a run: it has no config.json", run.folder));
    }
    return load_config(run.config(), overrides);
}

}  // namespace causeway
