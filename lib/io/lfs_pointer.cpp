#include "io/lfs_pointer.hpp"

#include <cstddef>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

void refuse_lfs_pointer(const std::string& path, std::string_view content) {
    constexpr std::size_t most_bytes = 1024;  // of a pointer; a longer text is about Git LFS
    if (content.size() >= most_bytes || !content.starts_with("version https://git-lfs")) return;
    throw IoError(fmt::format("{}: is a Git LFS pointer, not the file: fetch it with `git lfs pull`", path));
}

}  // namespace causeway
