#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/append_file.hpp"
#include "io/tensorboard/event.hpp"

namespace causeway::tensorboard {

/// A file that TensorBoard reads while it grows. Each writer of a folder has a file of its own, and TensorBoard shows
/// them as one run: a run that is resumed begins a new one.
class EventFile {
  public:
    /// Makes the folder if need be, and in it events.out.tfevents.<seconds>.<host>.<pid>.<n>, a name no other file has.
    /// Throws IoError.
    explicit EventFile(const std::string& folder);

    /// The run goes on with that step: what was written of it and of later ones, here or in an older file of the
    /// folder, is shown no longer. These three with the time of the call; they throw IoError, for instance on a full
    /// disk; the file then ends with the last complete record.
    void write_start(std::int64_t step);
    void write_scalars(std::int64_t step, std::span<const Scalar> scalars);
    void write_text(std::int64_t step, std::string_view tag, std::string_view text);

    const std::string& path() const { return file_.path(); }

  private:
    AppendFile file_;
};

}  // namespace causeway::tensorboard
