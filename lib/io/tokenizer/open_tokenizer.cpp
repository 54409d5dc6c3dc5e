#include <filesystem>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/mapped_file.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {
namespace {

namespace fs = std::filesystem;

/// What a folder without tokenizer.json has in its place, for the message.
std::string other_tokenizer_in(const std::string& folder) {
    std::error_code ignored;
    for (const char* name : {"tokenizer.model", "vocab.json", "spiece.model"}) {
        if (fs::exists(fs::path(folder) / name, ignored)) {
            return fmt::format("; its {} is not supported: save the tokenizer with AutoTokenizer once", name);
        }
    }
    return "";
}

}  // namespace

std::string tokenizer_file(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) return path;
    const std::string file = path + "/tokenizer.json";
    if (!fs::exists(file, ignored)) {
        throw IoError(fmt::format("{}: the folder has no tokenizer.json{}", path, other_tokenizer_in(path)));
    }
    return file;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path) {
    if (path.empty()) return byte_tokenizer();
    const MappedFile file(tokenizer_file(path));
    return parse_tokenizer(file.text(), file.path());
}

}  // namespace causeway
