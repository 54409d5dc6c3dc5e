#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/file_descriptor.hpp"
#include "io/lfs_pointer.hpp"

namespace causeway {

// Delegates, so that what it throws finds a whole object to take down.
MappedFile::MappedFile(const std::string& path) : MappedFile() {
    path_ = path;
    // O_NONBLOCK: opening a FIFO by mistake must fail below, not wait for a writer.
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) throw_file_error(path, "open", errno);
    struct stat status {};
    if (fstat(file.get(), &status) != 0) throw_file_error(path, "examine", errno);
    if (S_ISDIR(status.st_mode)) throw IoError(fmt::format("{}: is a directory, expected a file", path));
    if (!S_ISREG(status.st_mode)) throw IoError(fmt::format("{}: is not a regular file", path));
    if (status.st_size == 0) return;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) throw_file_error(path, "map into memory", errno);
    data_ = static_cast<const std::byte*>(data);
    size_ = size;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    refuse_lfs_pointer(path, text());
}

void MappedFile::check_length() const {
    struct stat status {};
    if (size_ == 0 || stat(path_.c_str(), &status) != 0) return;
    const bool same = status.st_dev == device_ && status.st_ino == inode_;
    if (!same || static_cast<std::size_t>(status.st_size) >= size_) return;
    throw IoError(fmt::format("{}: has become shorter while it was being read: found {} bytes, expected {}", path_,
                              status.st_size, size_));
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace causeway
