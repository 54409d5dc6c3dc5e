#include "base/isa.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// CAUSEWAY_ISA set to a value for one scope.
class IsaVariable {
  public:
    explicit IsaVariable(const char* value) {
        if (const char* before = std::getenv("CAUSEWAY_ISA")) {
            before_ = before;
            was_set_ = true;
        }
        value != nullptr ? setenv("CAUSEWAY_ISA", value, 1) : unsetenv("CAUSEWAY_ISA");
    }
    ~IsaVariable() { was_set_ ? setenv("CAUSEWAY_ISA", before_.c_str(), 1) : unsetenv("CAUSEWAY_ISA"); }

  private:
    std::string before_;
    bool was_set_ = false;
};

}  // namespace

TEST_CASE("instruction sets are read by the names they are printed with") {
    for (Isa isa : available_isas()) CHECK(parse_isa(to_string(isa)) == isa);
    CHECK(parse_isa("auto") == available_isas().back());
    CHECK(parse_isa("reference") == Isa::reference);
    CHECK(available_isas().front() == Isa::reference);
}

TEST_CASE("an unknown instruction set is refused with the known names") {
    CHECK_THROWS_MESSAGE(parse_isa("avx3"), ConfigError,
                         "unknown instruction set 'avx3'; expected auto, reference, sse2");
    CHECK_THROWS_MESSAGE(parse_isa(""), ConfigError, "unknown instruction set ''");
    CHECK_THROWS_MESSAGE(parse_isa("AVX2"), ConfigError, "AVX2");
}

TEST_CASE("an instruction set this CPU lacks is an error, not a crash") {
    int refused = 0;
    for (Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512, Isa::neon}) {
        if (isa_available(isa)) continue;
        ++refused;
        CHECK_THROWS_MESSAGE(parse_isa(to_string(isa)), CapacityError, std::string(to_string(isa)));
        CHECK_THROWS_MESSAGE(parse_isa(to_string(isa)), CapacityError, "it can run: reference");
    }
    CHECK(refused >= 1);  // no CPU has both x86's and Arm's
}

TEST_CASE("CAUSEWAY_ISA overrides the configured instruction set") {
    const IsaVariable forced("reference");
    CHECK(choose_isa("auto") == Isa::reference);
    {
        const IsaVariable empty("");
        CHECK(choose_isa("auto") == available_isas().back());
    }
    {
        const IsaVariable none(nullptr);
        CHECK(choose_isa("reference") == Isa::reference);
        CHECK(choose_isa("auto") == available_isas().back());
    }
    const IsaVariable wrong("fast");
    CHECK_THROWS_MESSAGE(choose_isa("auto"), ConfigError, "CAUSEWAY_ISA: unknown instruction set 'fast'");
}
