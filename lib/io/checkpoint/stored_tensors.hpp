#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// A tensor of a checkpoint as its files hold it. The bytes are mapped and need no alignment.
struct StoredTensor {
    std::string name;
    std::string dtype;  ///< safetensors' name: "F32", "BF16", ...
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// All tensors of a checkpoint, wherever its files are cut. Copies share the mapped files.
class StoredTensors {
  public:
    /// `path` is a safetensors file, llm.c's .bin file, or a folder with model.safetensors or with
    /// model.safetensors.index.json and the shards it names. Shards must lie in the folder itself: a path or a link
    /// that leads out of it is refused. Throws IoError for what is missing (the shard and the tensors in it) or
    /// malformed, with a hint for pickles.
    static StoredTensors open(const std::string& path);

    /// The tensors of files kept alive by `owner`; `path` names them in messages.
    StoredTensors(std::string path, std::vector<StoredTensor> tensors, std::shared_ptr<const void> owner);

    const std::string& path() const { return path_; }
    const std::vector<StoredTensor>& all() const { return tensors_; }
    /// nullptr when there is none of that name. O(log n).
    const StoredTensor* find(std::string_view name) const;

  private:
    std::string path_;
    std::vector<StoredTensor> tensors_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::shared_ptr<const void> owner_;
};

}  // namespace causeway
