// A program that uses Causeway through its public headers alone.
#include <causeway/error.hpp>
#include <cstdio>
#include <cstring>

namespace {

/// Errors cross the library's border as the types that the headers declare.
bool errors_are_caught_by_type() {
    try {
        throw causeway::ConfigError("model.hidden_size: expected a positive integer, found 0");
    } catch (const causeway::Error& error) {
        return std::strstr(error.what(), "model.hidden_size") != nullptr;
    }
}

bool report(const char* what, bool passed) {
    std::printf("%s: %s\n", passed ? "ok" : "FAILED", what);
    return passed;
}

}  // namespace

int main() {
    bool passed = true;
    passed &= report("errors are caught by type", errors_are_caught_by_type());
    return passed ? 0 : 1;
}
