#include "io/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace causeway {
namespace {

int open_flags(AppendFile::Mode mode) {
    return O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (mode == AppendFile::Mode::truncate ? O_TRUNC : 0);
}

/// Writes both parts; returns 0 or the error number.
int write_parts(int file, std::string_view first, std::string_view second) {
    const std::size_t total = first.size() + second.size();
    for (std::size_t done = 0; done < total;) {
        const std::string_view rest = first.substr(std::min(done, first.size()));
        const std::string_view then = second.substr(done - std::min(done, first.size()));
        const std::array<iovec, 2> parts{iovec{const_cast<char*>(rest.data()), rest.size()},
                                         iovec{const_cast<char*>(then.data()), then.size()}};
        const ssize_t written = writev(file, parts.data(), parts.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        done += static_cast<std::size_t>(written);
    }
    return 0;
}

}  // namespace

AppendFile::AppendFile(const std::string& path, Mode mode)
    : path_(path), file_(open(path.c_str(), open_flags(mode), 0666)) {
    if (!file_.is_open()) throw_file_error(path_, "open for writing", errno);
}

void AppendFile::write(std::string_view first, std::string_view second) {
    struct stat before {};
    const bool known = fstat(file_.get(), &before) == 0 && S_ISREG(before.st_mode);
    const int error = write_parts(file_.get(), first, second);
    if (error == 0) return;
    // Should this fail too, the message below still tells that the record is not whole.
    if (known && ftruncate(file_.get(), before.st_size) != 0) throw_file_error(path_, "write and undo a record", error);
    throw_file_error(path_, "write", error);
}

void AppendFile::sync() {
    if (fsync(file_.get()) != 0 && errno != EINVAL) throw_file_error(path_, "write to disk", errno);
}

}  // namespace causeway
