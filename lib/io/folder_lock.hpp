#pragma once

#include <string>

#include "io/file_descriptor.hpp"

namespace causeway {

/// While it lives, no other FolderLock of the same folder can be had, in this process or another. It ends with the
/// process, however that ends, and leaves no file. On file systems without locks it keeps nobody out.
class FolderLock {
  public:
    /// Throws IoError when the folder cannot be opened, or somebody has its lock: the message says so.
    explicit FolderLock(const std::string& folder);

  private:
    FileDescriptor folder_;
};

}  // namespace causeway
