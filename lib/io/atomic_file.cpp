#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace causeway {
namespace {

/// Creates a file that did not exist, with the mode an ordinary one would get (mkstemp's would be private).
FileDescriptor create_sibling(const std::string& path, std::string& name) {
    static std::atomic<unsigned> counter{0};
    constexpr int attempts = 1000;  // names left behind by a killed process of the same id are stepped over
    for (int attempt = 0; attempt < attempts; ++attempt) {
        name = fmt::format("{}.tmp-{}-{}", path, getpid(), counter++);
        FileDescriptor file(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file.is_open()) return file;
        if (errno != EEXIST) break;
    }
    throw_file_error(path, "create a file beside it", errno);
}

/// The rename itself is lost in a power cut unless its folder is on the disk too.
void sync_folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
    const FileDescriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // A folder that may be written but not read, or a file system without this call, gives no stronger promise.
    if (!descriptor.is_open()) return;
    if (fsync(descriptor.get()) != 0 && errno != EINVAL) throw_file_error(folder, "write the folder to disk", errno);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), file_(create_sibling(path, temporary_)) {}

AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_file_error(path_, "write", errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::commit() {
    if (fsync(file_.get()) != 0) throw_file_error(path_, "write to disk", errno);
    if (const int error = file_.close(); error != 0) throw_file_error(path_, "close", error);
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_file_error(path_, "replace", errno);
    temporary_.clear();
    sync_folder_of(path_);
}

void write_text_atomically(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace causeway
