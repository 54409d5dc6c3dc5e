#pragma once

#include <string>
#include <string_view>

#include "io/append_file.hpp"

namespace causeway {

/// A log of lines (metrics.jsonl) that is complete up to the last write: each line goes to the system in one call,
/// nothing is buffered here, nothing is allocated per line.
class LineWriter {
  public:
    using Mode = AppendFile::Mode;

    /// Throws IoError when the file cannot be opened for writing.
    LineWriter(const std::string& path, Mode mode) : file_(path, mode) {}

    /// Appends `line` and a newline. Throws IoError (path and reason) when it does not get there whole, as on a full
    /// disk; what was written of it is taken back, so that the file always ends with a complete line.
    void write(std::string_view line) { file_.write(line, "\n"); }

    /// Forces what was written to the disk. Throws IoError. A device or FIFO has nothing to force.
    void sync() { file_.sync(); }

    const std::string& path() const { return file_.path(); }

  private:
    AppendFile file_;
};

}  // namespace causeway
