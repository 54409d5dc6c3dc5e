#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace causeway {

/// A regular file mapped into memory, read-only. Nothing is read before it is touched, so files larger than memory
/// are fine. Move-only; the bytes stay where they are when the object moves.
class MappedFile {
  public:
    MappedFile() = default;
    /// Throws IoError (path and reason) when the file is missing, unreadable, a directory, not a regular file or
    /// a Git LFS pointer.
    /// An empty file is legal and gives no bytes.
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept { swap(other); }
    MappedFile& operator=(MappedFile&& other) noexcept {
        swap(other);
        return *this;
    }
    ~MappedFile();

    /// Throws IoError when the file has become shorter than what is mapped: touching the end of it would end the
    /// process (SIGBUS). A file that was removed or replaced by another of its name is still there as it was. One
    /// system call.
    void check_length() const;

    const std::string& path() const { return path_; }
    std::size_t size() const { return size_; }
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  private:
    void swap(MappedFile& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(device_, other.device_);
        std::swap(inode_, other.inode_);
    }
    std::string path_;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t device_ = 0, inode_ = 0;  ///< which file it was: an open descriptor would be one a mapping
};

}  // namespace causeway
