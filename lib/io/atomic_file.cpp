#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/mapped_file.hpp"
#include "io/temporary_name.hpp"
#include "io/whole_number.hpp"

namespace causeway {
namespace {

namespace fs = std::filesystem;

/// The number of the open descriptor that a path is a name of. Opening such a path would be no write into what is open:
/// not for a socket, and of a file it would begin at its start.
std::optional<int> descriptor_named_by(std::string_view path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (path.starts_with(folder)) return whole_number(path.substr(folder.size()));
    }
    return std::nullopt;
}

/// The file that a chain of symbolic links ends at, there or not.
std::string end_of_links(const std::string& path) {
    constexpr int most_links = 40;  // as many as Linux follows
    fs::path at = path;
    std::error_code ignored;
    for (int links = 0; fs::is_symlink(fs::symlink_status(at, ignored)); ++links) {
        if (links == most_links) throw_file_error(path, "follow the link", ELOOP);
        at = at.parent_path() / fs::read_symlink(at, ignored);  // an absolute one stands alone
    }
    return at.string();
}

enum class Target { none, file, other };

/// What is there already, links followed. Throws IoError for what cannot be written into.
Target target_at(const std::string& path, struct stat& status) {
    if (path.empty()) throw IoError("the name of a file to write is empty");
    if (stat(path.c_str(), &status) != 0) return Target::none;
    if (S_ISDIR(status.st_mode)) throw_file_error(path, "write", EISDIR);
    return S_ISREG(status.st_mode) ? Target::file : Target::other;
}

/// Creates a file that did not exist, with the mode an ordinary one would get (mkstemp's would be private).
FileDescriptor create_sibling(const std::string& path, std::string& name) {
    remove_abandoned_of(path);
    for (int attempt = 0; attempt < most_temporary_names; ++attempt) {
        name = next_temporary_name(path);
        FileDescriptor file(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file.is_open()) return file;
        if (errno != EEXIST) break;
    }
    throw_file_error(path, "create a file beside it", errno);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
    struct stat status {};
    const std::optional<int> descriptor = descriptor_named_by(path);
    const Target target = descriptor ? Target::other : target_at(path, status);
    if (target == Target::other) {
        file_ = FileDescriptor(descriptor ? fcntl(*descriptor, F_DUPFD_CLOEXEC, 0)
                                          : open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
        if (!file_.is_open()) throw_file_error(path, "open for writing", errno);
        return;
    }
    target_ = end_of_links(path);
    file_ = create_sibling(target_, temporary_);
    // Who may read it is the user's choice; a file system without permissions has none to keep.
    if (target == Target::file) static_cast<void>(fchmod(file_.get(), status.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    hash_.add(bytes);
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_file_error(path_, "write", errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::rewrite_start(std::span<const std::byte> bytes) {
    for (off_t at = 0; !bytes.empty();) {
        const ssize_t written = pwrite(file_.get(), bytes.data(), bytes.size(), at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_file_error(path_, "go back to the start", errno);
        at += written;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AtomicFile::commit() {
    if (temporary_.empty()) {  // written already
        if (const int error = file_.close(); error != 0) throw_file_error(path_, "close", error);
        return;
    }
    if (fsync(file_.get()) != 0) throw_file_error(path_, "write to disk", errno);
    if (const int error = file_.close(); error != 0) throw_file_error(path_, "close", error);
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) throw_file_error(path_, "replace", errno);
    temporary_.clear();
    sync_folder(folder_of(target_));
}

void check_can_write(const std::string& path) {
    struct stat status {};
    if (descriptor_named_by(path)) return;
    if (target_at(path, status) != Target::other) {
        const AtomicFile trial(path);
    } else if (access(path.c_str(), W_OK) != 0) {  // opening a FIFO would end its reader's input
        throw_file_error(path, "write", errno);
    }
}

bool lead_to_same_file(const std::string& a, const std::string& b) {
    std::error_code ignored;
    if (fs::equivalent(a, b, ignored)) return true;
    const auto place = [&](const std::string& path) {
        return fs::weakly_canonical(fs::absolute(end_of_links(path), ignored), ignored);
    };
    return place(a) == place(b);
}

const std::string* find_same_file(const std::string& path, std::span<const std::string> files) {
    const auto found =
        std::ranges::find_if(files, [&](const std::string& file) { return lead_to_same_file(path, file); });
    return found == files.end() ? nullptr : &*found;
}

void check_replaces_none(const std::string& path, std::span<const std::string> read) {
    const std::string* file = find_same_file(path, read);
    if (file == nullptr) return;
    throw IoError(
        fmt::format("{}: is what is read ({}) and would be replaced; choose another file to write", path, *file));
}

void copy_file_atomically(const std::string& from, const std::string& to) {
    const MappedFile content(from);
    AtomicFile copy(to);
    copy.write(content.bytes());
    copy.commit();
}

void link_atomically(const std::string& from, const std::string& to) {
    const std::string target = end_of_links(to);
    for (int attempt = 0; attempt < most_temporary_names; ++attempt) {
        const std::string name = next_temporary_name(target);
        if (link(from.c_str(), name.c_str()) != 0) {
            if (errno == EEXIST) continue;
            return copy_file_atomically(from, to);  // a file system without links
        }
        const bool renamed = std::rename(name.c_str(), target.c_str()) == 0;
        const int error = errno;
        unlink(name.c_str());  // two names of one file: rename(2) then leaves both
        if (!renamed) throw_file_error(to, "replace", error);
        return sync_folder(folder_of(target));
    }
    throw_file_error(to, "create a file beside it", EEXIST);
}

std::string write_text_atomically(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
    return file.hash();
}

}  // namespace causeway
