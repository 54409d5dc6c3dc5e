#pragma once

#include <string_view>

#define CAUSEWAY_VERSION_MAJOR 0
#define CAUSEWAY_VERSION_MINOR 1
#define CAUSEWAY_VERSION_PATCH 0
#define CAUSEWAY_VERSION "0.1.0"

namespace causeway {

/// The version of the library that is linked, "major.minor.patch"; CAUSEWAY_VERSION is that of the headers.
std::string_view version();

}  // namespace causeway
