#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/file_descriptor.hpp"

namespace causeway {

/// A file that grows by whole records: each goes to the system in one call, nothing is buffered here, nothing is
/// allocated.
class AppendFile {
  public:
    enum class Mode { truncate, append };

    /// Throws IoError when the file cannot be opened for writing.
    AppendFile(const std::string& path, Mode mode);

    /// Appends a record that is given in two parts. Throws IoError (path and reason) when it does not get there whole,
    /// as on a full disk; what was written of it is taken back, so that the file always ends with a complete record.
    void write(std::string_view first, std::string_view second = {});
    /// Appends `line` and a newline, in the same way.
    void write_line(std::string_view line) { write(line, "\n"); }

    /// Forces what was written to the disk. Throws IoError. A device or FIFO has nothing to force.
    void sync();

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    FileDescriptor file_;
};

}  // namespace causeway
