#include "io/temporary_name.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "base/format.hpp"
#include "io/file_descriptor.hpp"
#include "io/whole_number.hpp"

namespace causeway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_mark = ".tmp-";

/// How many names this process has given.
std::atomic<int> given{0};

/// What a name says of an unfinished file or folder.
struct Unfinished {
    std::string_view target;  ///< the name it is to have
    int writer;               ///< the process
    int number;
};

std::optional<Unfinished> parse(std::string_view name) {
    const std::size_t mark = name.rfind(temporary_mark);
    if (mark == std::string_view::npos || mark == 0) return std::nullopt;
    const std::string_view numbers = name.substr(mark + temporary_mark.size());
    const std::size_t dash = numbers.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const std::optional<int> writer = whole_number(numbers.substr(0, dash)),
                             number = whole_number(numbers.substr(dash + 1));
    if (!writer || !number || *writer <= 0) return std::nullopt;
    return Unfinished{name.substr(0, mark), *writer, *number};
}

bool is_gone(int process) { return kill(process, 0) != 0 && errno == ESRCH; }

void remove_if(const std::string& folder, const std::function<bool(const Unfinished&)>& unwanted) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        const std::optional<Unfinished> found = parse(name);
        if (found && unwanted(*found)) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace

std::string next_temporary_name(const std::string& path) {
    return fmt::format("{}{}{}-{}", path, temporary_mark, getpid(), given++);
}

bool is_temporary_name(std::string_view name) { return parse(name).has_value(); }

void remove_abandoned(const std::string& folder) {
    // In a container the next run may well get the id of the one that was killed.
    remove_if(folder, [](const Unfinished& found) { return found.writer == getpid() || is_gone(found.writer); });
}

void remove_abandoned_of(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    remove_if(folder_of(path), [&](const Unfinished& found) {
        if (found.target != name) return false;
        return found.writer == getpid() ? found.number >= given : is_gone(found.writer);
    });
}

void remove_unfinished(const std::string& folder) {
    remove_if(folder, [](const Unfinished&) { return true; });
}

void sync_folder(const std::string& folder) {
    const FileDescriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!descriptor.is_open()) return;
    if (fsync(descriptor.get()) != 0 && errno != EINVAL) throw_file_error(folder, "write the folder to disk", errno);
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

}  // namespace causeway
