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

void remove_if(const std::string& folder, const std::function<bool(int writer)>& unwanted) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::optional<int> writer = writer_of(entry.path().filename().string());
        if (writer && unwanted(*writer)) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace

std::string next_temporary_name(const std::string& path) {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}{}{}-{}", path, temporary_mark, getpid(), counter++);
}

bool is_temporary_name(std::string_view name) { return writer_of(name).has_value(); }

void remove_abandoned(const std::string& folder) {
    // In a container the next run may well get the id of the one that was killed.
    remove_if(folder, [](int writer) { return writer == getpid() || (kill(writer, 0) != 0 && errno == ESRCH); });
}

void remove_unfinished(const std::string& folder) {
    remove_if(folder, [](int) { return true; });
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
