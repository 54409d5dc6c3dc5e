#include "io/run_folder.hpp"

#include <filesystem>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/checkpoint/llmc_checkpoint.hpp"
#include "io/safetensors.hpp"

namespace causeway {

void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", folder, error.message()));
}

void save_run(const RunFolder& run, const Config& config, std::span<const NamedTensor> parameters) {
    std::vector<TensorToWrite> tensors;
    for (const NamedTensor& tensor : parameters) tensors.push_back({tensor.name, tensor.view.desc, tensor.view.data});
    make_folder(run.folder);
    write_text_atomically(run.config(), to_json(config));
    write_safetensors(run.parameters(), tensors);
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
