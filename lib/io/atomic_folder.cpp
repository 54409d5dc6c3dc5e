#include "io/atomic_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "io/file_descriptor.hpp"
#include "io/temporary_name.hpp"

namespace causeway {
namespace {

namespace fs = std::filesystem;

std::string make_sibling(const std::string& path) {
    for (int attempt = 0; attempt < most_temporary_names; ++attempt) {
        std::string name = next_temporary_name(path);
        if (mkdir(name.c_str(), 0777) == 0) return name;
        if (errno != EEXIST) break;
    }
    throw_file_error(path, "create a folder beside it", errno);
}

/// The content of the two names in each other's place. False where the file system cannot.
bool swap_names(const std::string& a, const std::string& b) {
    return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& path) : path_(path), temporary_(make_sibling(path)) {}

AtomicFolder::~AtomicFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void AtomicFolder::commit() {
    sync_folder(temporary_);
    if (std::rename(temporary_.c_str(), path_.c_str()) == 0) {
        temporary_.clear();
    } else if (errno != ENOTEMPTY && errno != EEXIST) {
        throw_file_error(path_, "replace", errno);
    } else if (!swap_names(temporary_, path_)) {  // otherwise the older folder now has the temporary name
        remove_folder(path_);
        if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_file_error(path_, "replace", errno);
        temporary_.clear();
    }
    sync_folder(folder_of(path_));
}

void remove_folder(const std::string& path) {
    const std::string doomed = next_temporary_name(path);
    if (std::rename(path.c_str(), doomed.c_str()) != 0) throw_file_error(path, "remove", errno);
    std::error_code error;
    fs::remove_all(doomed, error);
    if (error) throw_file_error(path, "remove", error.value());
}

}  // namespace causeway
