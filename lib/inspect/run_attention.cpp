#include "inspect/run_attention.hpp"

namespace causeway {

AttentionMaps run_attention(const RunFolder& run, const Config& config, std::span<const std::int32_t> ids,
                            const std::optional<AttentionMask>& mask) {
    AttentionInspector inspector(config, 1, static_cast<std::int64_t>(ids.size()), mask);
    load_parameters(run.parameters(), inspector.runtime().parameters());
    inspector.runtime().refresh();
    return inspector.run(ids);
}

}  // namespace causeway
