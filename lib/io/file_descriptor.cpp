#include "io/file_descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

void throw_file_error(const std::string& path, std::string_view action, int error_number) {
    throw IoError(fmt::format("{}: cannot {}: {}", path, action, std::generic_category().message(error_number)));
}

int FileDescriptor::close() noexcept {
    if (!is_open()) return 0;
    return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
}

}  // namespace causeway
