#pragma once

#include <string>

namespace causeway {

/// Makes a folder of several files appear as a whole: it is filled under the name `<path>.tmp-<pid>-<n>`, which
/// commit() renames. A process that is killed at any moment leaves the whole folder or none of that name.
class AtomicFolder {
  public:
    /// Makes the folder to fill. Throws IoError when that fails.
    explicit AtomicFolder(const std::string& path);
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;
    /// Removes it, with its files, unless it was committed.
    ~AtomicFolder();

    /// Where the files go. Each is to be on the disk before commit(), as AtomicFile leaves it.
    const std::string& path() const { return temporary_; }
    /// Renames it to its name, in the place of an older folder that has it, and forces that to the disk. On a file
    /// system that cannot exchange two names a kill in between leaves neither.
    void commit();

  private:
    std::string path_;
    std::string temporary_;
};

/// Removes a folder so that a kill in between leaves nothing that looks like it. Throws IoError.
void remove_folder(const std::string& path);

}  // namespace causeway
