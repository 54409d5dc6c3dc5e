#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/file_descriptor.hpp"

namespace causeway {

/// Replaces a file as a whole: readers, and a machine that stops at any moment, see the old content or the new, never
/// a part. The content goes to a sibling file `<path>.tmp-<pid>-<n>`, which commit() renames.
class AtomicFile {
  public:
    /// Creates the sibling. Throws IoError when that fails (no such folder, read-only, no permission).
    explicit AtomicFile(const std::string& path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    /// Removes the sibling unless it was committed.
    ~AtomicFile();

    /// Appends. Throws IoError (full disk, quota, size limit); the target keeps its old content.
    void write(std::span<const std::byte> bytes);
    /// Forces the content to the disk, renames it to `path`, forces the folder's entry to the disk.
    void commit();

  private:
    std::string path_;
    std::string temporary_;
    FileDescriptor file_;
};

/// The whole of a small file (config.json, an index) in one go, by AtomicFile.
void write_text_atomically(const std::string& path, std::string_view text);

}  // namespace causeway
