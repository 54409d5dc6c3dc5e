// run_with_isa ISA PROGRAM [ARGUMENT...]: runs the program with CAUSEWAY_ISA forced, or exits with 77 (which ctest
// shows as skipped) when this CPU lacks the instruction set.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/isa.hpp"

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: run_with_isa ISA PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    const std::string_view name = argv[1];
    const auto isas = causeway::available_isas();
    if (std::none_of(isas.begin(), isas.end(), [&](causeway::Isa isa) { return to_string(isa) == name; })) {
        std::printf("SKIPPED: this CPU or this build has no %s\n", argv[1]);
        return 77;
    }
    setenv("CAUSEWAY_ISA", argv[1], 1);
    execv(argv[2], argv + 2);
    std::perror(argv[2]);
    return 2;
}
