#include "base/isa.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

bool cpu_has(Isa isa) {
#if defined(__x86_64__)
    switch (isa) {
        case Isa::reference:
            return true;
        case Isa::sse2:
            return __builtin_cpu_supports("sse2");
        case Isa::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case Isa::avx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl");
        case Isa::neon:
            return false;
    }
    return false;
#elif defined(__aarch64__)
    return isa == Isa::reference || isa == Isa::neon;
#else
    return isa == Isa::reference;
#endif
}

std::string names_of(const std::vector<Isa>& isas) {
    std::string names;
    for (Isa isa : isas) {
        if (!names.empty()) names += ", ";
        names += to_string(isa);
    }
    return names;
}

}  // namespace

std::string_view to_string(Isa isa) {
    constexpr std::array<std::string_view, all_isas.size()> names{"reference", "sse2", "avx2", "avx512", "neon"};
    return names[static_cast<std::size_t>(isa)];
}

bool isa_available(Isa isa) { return cpu_has(isa); }

std::vector<Isa> available_isas() {
    std::vector<Isa> found;
    for (Isa isa : all_isas) {
        if (isa_available(isa)) found.push_back(isa);
    }
    return found;
}

Isa parse_isa(std::string_view name) {
    if (name == "auto") return available_isas().back();
    for (Isa isa : all_isas) {
        if (to_string(isa) != name) continue;
        if (!isa_available(isa)) {
            throw CapacityError(fmt::format("this CPU cannot run instruction set '{}'; it can run: {}", name,
                                            names_of(available_isas())));
        }
        return isa;
    }
    throw ConfigError(fmt::format("unknown instruction set '{}'; expected auto, {}", name,
                                  names_of({all_isas.begin(), all_isas.end()})));
}

Isa choose_isa(std::string_view configured) {
    const char* forced = std::getenv("CAUSEWAY_ISA");
    if (forced == nullptr || *forced == '\0') return parse_isa(configured);
    try {
        return parse_isa(forced);
    } catch (const ConfigError& error) {
        throw ConfigError(fmt::format("CAUSEWAY_ISA: {}", error.what()));
    } catch (const CapacityError& error) {
        throw CapacityError(fmt::format("CAUSEWAY_ISA: {}", error.what()));
    }
}

}  // namespace causeway
