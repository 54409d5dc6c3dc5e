#include "io/checkpoint/stored_tensors.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "config/read_json.hpp"
#include "io/checkpoint/llmc_checkpoint.hpp"
#include "io/safetensors.hpp"

namespace causeway {
namespace {

using config::Json;
namespace fs = std::filesystem;

constexpr const char* whole_file = "model.safetensors";
constexpr const char* index_file = "model.safetensors.index.json";
constexpr std::size_t most_named = 5;  // tensors in a message

StoredTensor stored(const SafetensorsFile& file, const SafetensorsEntry& entry) {
    return {entry.name, entry.dtype, entry.shape, file.bytes(entry)};
}

StoredTensors open_file(const std::string& path) {
    auto file = std::make_shared<const SafetensorsFile>(path);
    std::vector<StoredTensor> tensors;
    for (const SafetensorsEntry& entry : file->tensors()) tensors.push_back(stored(*file, entry));
    return {path, std::move(tensors), std::move(file)};
}

/// A folder cut into shards: which tensor is in which file.
class ShardedFolder {
  public:
    explicit ShardedFolder(const std::string& folder) : folder_(folder), index_(folder + "/" + index_file) {}

    StoredTensors open() {
        read_index();
        auto files = std::make_shared<std::vector<SafetensorsFile>>();
        std::vector<StoredTensor> tensors;
        files->reserve(names_.size());  // entries of a file are looked at while it is in place
        for (const auto& [shard, names] : names_) {
            check_place(shard, names);
            files->emplace_back(folder_ + "/" + shard);
            add_tensors(files->back(), names, tensors);
        }
        return {index_, std::move(tensors), std::move(files)};
    }

  private:
    void read_index() {
        const MappedFile file(index_);
        const Json index = config::read_json(std::string(file.text()), index_);
        const auto map = index.is_object() ? index.find("weight_map") : index.end();
        if (!index.is_object() || map == index.end() || !map->is_object()) {
            throw IoError(fmt::format("{}: has no object \"weight_map\" that maps tensors to files", index_));
        }
        for (const auto& [name, shard] : map->items()) {
            if (!shard.is_string()) throw IoError(fmt::format("{}: '{}' is not mapped to a file name", index_, name));
            names_[shard.get<std::string>()].push_back(name);
        }
    }

    /// A shard is a file of this folder: an index comes from strangers, and must not make us read other files.
    void check_place(const std::string& shard, const std::vector<std::string>& names) const {
        if (shard.empty() || shard.find_first_of(std::string("/\\\0", 3)) != std::string::npos || shard == "..") {
            throw IoError(fmt::format("{}: maps tensors to \"{}\", expected the name of a file in the same folder",
                                      index_, shard));
        }
        const fs::path path = fs::path(folder_) / shard;
        std::error_code error;
        if (!fs::exists(path, error)) {
            throw IoError(fmt::format("{}: there is no such file, with {} tensors in it: {}{} (named by {})",
                                      path.string(), names.size(),
                                      fmt::join(names.begin(), names.begin() + shown(names), ", "),
                                      names.size() > most_named ? ", ..." : "", index_file));
        }
        const fs::path real = fs::canonical(path, error);
        if (error || real.parent_path() != fs::canonical(folder_, error)) {
            throw IoError(
                fmt::format("{}: is a link out of the folder, which is refused: copy the folder with the "
                            "files themselves (cp -rL)",
                            path.string()));
        }
    }

    void add_tensors(const SafetensorsFile& file, const std::vector<std::string>& names,
                     std::vector<StoredTensor>& tensors) const {
        for (const std::string& name : names) {
            const SafetensorsEntry* entry = file.find(name);
            if (entry == nullptr) {
                throw IoError(
                    fmt::format("{}: has no tensor '{}', which {} says it holds", file.path(), name, index_file));
            }
            tensors.push_back(stored(file, *entry));
        }
        if (file.tensors().size() != names.size()) {
            throw IoError(fmt::format("{}: holds {} tensors, {} names {} of them", file.path(), file.tensors().size(),
                                      index_file, names.size()));
        }
    }

    static std::ptrdiff_t shown(const std::vector<std::string>& names) {
        return static_cast<std::ptrdiff_t>(std::min(names.size(), most_named));
    }

    std::string folder_, index_;
    std::map<std::string, std::vector<std::string>> names_;  ///< by shard
};

/// The first pickle of a folder, for a hint; empty when there is none.
std::string pickle_in(const std::string& folder) {
    constexpr std::array endings{".bin", ".pt", ".pth", ".ckpt"};
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string extension = entry.path().extension().string();
        if (std::find(endings.begin(), endings.end(), extension) != endings.end()) {
            return entry.path().filename().string();
        }
    }
    return "";
}

StoredTensors open_folder(const std::string& folder) {
    std::error_code ignored;
    const std::string whole = folder + "/" + whole_file;
    if (fs::exists(whole, ignored)) return open_file(whole);
    if (fs::exists(folder + "/" + index_file, ignored)) return ShardedFolder(folder).open();
    const std::string pickle = pickle_in(folder);
    if (pickle.empty()) throw IoError(fmt::format("{}: there is no such file, nor a {}", whole, index_file));
    throw IoError(
        fmt::format("{}: there is no such file. {} looks like a pickle, which can run code when it is read "
                    "and is never opened here: convert it to safetensors (docs/checkpoints.md says how)",
                    whole, pickle));
}

}  // namespace

StoredTensors StoredTensors::open(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return open_folder(path);
    if (is_llmc_checkpoint(path)) return LlmcCheckpoint(path).tensors();
    return open_file(path);
}

StoredTensors::StoredTensors(std::string path, std::vector<StoredTensor> tensors, std::shared_ptr<const void> owner)
    : path_(std::move(path)), tensors_(std::move(tensors)), owner_(std::move(owner)) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

const StoredTensor* StoredTensors::find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace causeway
