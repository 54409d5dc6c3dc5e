#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "causeway/error.hpp"

namespace causeway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_mark = ".tmp-";

/// Reads a whole number that is all of the text.
std::optional<int> whole_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

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
    static std::atomic<unsigned> counter{0};
    constexpr int attempts = 1000;  // names left behind by a killed process of the same id are stepped over
    for (int attempt = 0; attempt < attempts; ++attempt) {
        name = fmt::format("{}{}{}-{}", path, temporary_mark, getpid(), counter++);
        FileDescriptor file(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file.is_open()) return file;
        if (errno != EEXIST) break;
    }
    throw_file_error(path, "create a file beside it", errno);
}

/// The process whose unfinished file has that name.
std::optional<int> writer_of(std::string_view name) {
    const std::size_t mark = name.rfind(temporary_mark);
    if (mark == std::string_view::npos || mark == 0) return std::nullopt;
    const std::string_view numbers = name.substr(mark + temporary_mark.size());
    const std::size_t dash = numbers.find('-');
    if (dash == std::string_view::npos || !whole_number(numbers.substr(dash + 1))) return std::nullopt;
    const std::optional<int> process = whole_number(numbers.substr(0, dash));
    return process && *process > 0 ? process : std::nullopt;
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
    sync_folder_of(target_);
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

bool is_temporary_file(std::string_view name) { return writer_of(name).has_value(); }

void remove_abandoned_files(const std::string& folder) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::optional<int> writer = writer_of(entry.path().filename().string());
        if (writer && kill(*writer, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
    }
}

void write_text_atomically(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace causeway
