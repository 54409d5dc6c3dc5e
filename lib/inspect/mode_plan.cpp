#include "inspect/mode_plan.hpp"

#include <array>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"

namespace causeway {
namespace {

constexpr std::array all_modes{Mode::train, Mode::eval, Mode::logits, Mode::prefill, Mode::decode, Mode::inspect};

Mode parse_mode(std::string_view name) {
    for (const Mode mode : all_modes) {
        if (to_string(mode) == name) return mode;
    }
    throw ConfigError(fmt::format("mode: found \"{}\", expected one of: {}", name, fmt::join(mode_names(), ", ")));
}

}  // namespace

std::vector<std::string> mode_names() {
    std::vector<std::string> names;
    for (const Mode mode : all_modes) names.emplace_back(to_string(mode));
    return names;
}

ExecutionPlan mode_plan(const Config& config, std::string_view mode) {
    CompileOptions options;
    options.mode = parse_mode(mode);
    if (options.mode == Mode::prefill || options.mode == Mode::decode) options.batch = 1;
    if (options.mode == Mode::prefill) options.sequence_length = config.model.max_position_embeddings;
    SharedLayout shared;
    return compile(config, options, shared);
}

}  // namespace causeway
