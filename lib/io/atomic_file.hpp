#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/content_hash.hpp"
#include "io/file_descriptor.hpp"

namespace causeway {

/// Replaces a file as a whole: readers, and a machine that stops at any moment, see the old content or the new, never
/// a part. The content goes to a sibling file `<path>.tmp-<pid>-<n>`, which commit() renames. A file that is replaced
/// keeps its permissions; of a symbolic link the file it leads to is replaced. What is no file of a folder (a device, a
/// FIFO, /dev/stdout) is written into as it is.
class AtomicFile {
  public:
    /// Creates the sibling. Throws IoError when that fails (no such folder, read-only, no permission), when the path is
    /// empty or a folder's. Waits for the reader of a FIFO.
    explicit AtomicFile(const std::string& path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    /// Removes the sibling unless it was committed.
    ~AtomicFile();

    /// Appends. Throws IoError (full disk, quota, size limit); the target keeps its old content.
    void write(std::span<const std::byte> bytes);
    /// Writes over the file's beginning, for a header that is known at the end only. Throws IoError, also for what
    /// cannot go back: a pipe.
    void rewrite_start(std::span<const std::byte> bytes);
    /// Forces the content to the disk, renames it to `path`, forces the folder's entry to the disk.
    void commit();
    /// Of what was written so far; see ContentHash.
    std::string hash() const { return hash_.text(); }

  private:
    std::string path_;
    std::string target_;     ///< what the path leads to
    std::string temporary_;  ///< empty: the target is written into
    FileDescriptor file_;
    ContentHash hash_;
};

/// Throws IoError as AtomicFile would, and leaves everything as it is.
void check_can_write(const std::string& path);

/// Whether two paths name the same file, by links or spelling, there or still to be made.
bool lead_to_same_file(const std::string& a, const std::string& b);

/// The first of the files that `path` leads to; nullptr when it is none of them.
const std::string* find_same_file(const std::string& path, std::span<const std::string> files);

/// Throws IoError when writing `path` would replace one of the files that are read.
void check_replaces_none(const std::string& path, std::span<const std::string> read);

/// Makes `to` a second name of the file `from` (a hard link), replacing what was there as a whole; a copy where the
/// file system has no links. Throws IoError.
void link_atomically(const std::string& from, const std::string& to);

/// Writes the content of the file `from`, by AtomicFile, to `to`. Throws IoError.
void copy_file_atomically(const std::string& from, const std::string& to);

/// The whole of a small file (config.json, an index) in one go, by AtomicFile. Returns its hash.
std::string write_text_atomically(const std::string& path, std::string_view text);

}  // namespace causeway
