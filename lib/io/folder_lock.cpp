#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

FolderLock::FolderLock(const std::string& folder) : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!folder_.is_open()) throw_file_error(folder, "open", errno);
    while (flock(folder_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            throw IoError(
                fmt::format("{}: another process is training in this folder; wait for its end or stop it", folder));
        }
        if (errno != EINTR) return;
    }
}

}  // namespace causeway
