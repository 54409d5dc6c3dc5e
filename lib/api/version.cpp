#include "causeway/version.hpp"

namespace causeway {

static_assert(std::string_view(CAUSEWAY_VERSION) == CAUSEWAY_PROJECT_VERSION,
              "causeway/version.hpp and the project's version in CMakeLists.txt differ");

std::string_view version() { return CAUSEWAY_VERSION; }

}  // namespace causeway
