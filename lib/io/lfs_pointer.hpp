#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// Throws IoError when the content of the file at `path` is a Git LFS pointer: what a clone without Git LFS has in the
/// place of a large file. As text or as numbers it would pass for data. Format: git-lfs's docs/spec.md.
void refuse_lfs_pointer(const std::string& path, std::string_view content);

}  // namespace causeway
