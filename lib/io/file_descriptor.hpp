#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace causeway {

/// Throws IoError "<path>: cannot <action>: <reason>" with the system's text for `error_number`.
[[noreturn]] void throw_file_error(const std::string& path, std::string_view action, int error_number);

/// A POSIX file descriptor that closes itself. Move-only.
class FileDescriptor {
  public:
    FileDescriptor() = default;
    explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
    FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~FileDescriptor() { close(); }

    int get() const { return descriptor_; }
    bool is_open() const { return descriptor_ >= 0; }
    /// Returns the error number of close(2), 0 when it went well or nothing was open.
    int close() noexcept;

  private:
    int descriptor_ = -1;
};

}  // namespace causeway
