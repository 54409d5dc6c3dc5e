#pragma once

#include <array>
#include <string_view>

namespace causeway {

/// The parts of a plan that are run one by one: pack the weights after somebody has set them; forward (and backward) of
/// one micro-batch; the optimizer's update, which renews the packed copies too.
enum class Phase { pack, step, update };
inline constexpr std::array all_phases{Phase::pack, Phase::step, Phase::update};

constexpr std::string_view to_string(Phase phase) {
    constexpr std::array<std::string_view, 3> names{"pack", "step", "update"};
    return names[static_cast<std::size_t>(phase)];
}

}  // namespace causeway
