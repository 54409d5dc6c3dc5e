# Options are prefixed CAUSEWAY_, so that they never collide with a parent project's.
option(CAUSEWAY_BUILD_TOOLS "Build the causeway command line" ${PROJECT_IS_TOP_LEVEL})
option(CAUSEWAY_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(CAUSEWAY_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(CAUSEWAY_BUILD_SHARED "Build libcauseway.so beside libcauseway.a" ON)
option(CAUSEWAY_INSTALL "Generate install rules" ${PROJECT_IS_TOP_LEVEL})
option(CAUSEWAY_WARNINGS_AS_ERRORS "Stop at the first warning (our presets set it)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

find_program(CAUSEWAY_CCACHE ccache)
if(CAUSEWAY_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CAUSEWAY_CCACHE})
endif()

# The flags every target of this project is compiled with.
add_library(causeway_flags INTERFACE)
# Products and sums are fused only where a target says so: the SIMD kernels do, see isa.cmake.
target_compile_options(causeway_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  "-ffp-contract=$<IF:$<BOOL:$<TARGET_PROPERTY:CAUSEWAY_FUSES_PRODUCTS>>,fast,off>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in operator+ of strings where there are none (GCC bug 105651).
  target_compile_options(causeway_flags INTERFACE -Wno-restrict)
endif()
if(CAUSEWAY_WARNINGS_AS_ERRORS)
  target_compile_options(causeway_flags INTERFACE -Werror)
endif()
