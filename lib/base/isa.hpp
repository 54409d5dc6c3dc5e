#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/isa_kind.hpp"

namespace causeway {

/// Weakest first.
inline constexpr std::array all_isas{Isa::reference, Isa::sse2, Isa::avx2, Isa::avx512, Isa::neon};

/// "reference", "sse2", "avx2", "avx512" or "neon".
std::string_view to_string(Isa isa);

/// Inverse of to_string; "auto" gives the best one the CPU and this build have.
/// Throws CapacityError when the CPU or the build lacks it, ConfigError when there is no such name.
Isa parse_isa(std::string_view name);

/// True when this CPU can execute the instruction set and this build contains it.
bool isa_available(Isa isa);

/// All available ones, weakest (reference) first.
std::vector<Isa> available_isas();

/// The environment variable CAUSEWAY_ISA when set and not empty, otherwise `configured` ("auto" or a name).
Isa choose_isa(std::string_view configured);

}  // namespace causeway
