#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace causeway {

/// What a generation_config.json (HuggingFace's) says about continuing text; what it leaves out is empty.
struct GenerationConfig {
    bool do_sample = false;  ///< false, as when the file does not say: the most likely token each time
    std::optional<double> temperature, top_p, min_p, repetition_penalty;
    std::optional<std::int64_t> top_k, max_new_tokens;
    std::vector<std::int32_t> eos_token_id;  ///< the file has one or a list
};

/// Reads a generation_config.json; nothing when there is no such file. Throws IoError, naming the file and the key, for
/// what is no JSON object, a value of the wrong type, and settings that would change the text and are not supported
/// (beams, bans of n-grams or words, ...) unless they are switched off.
std::optional<GenerationConfig> load_generation_config(const std::string& path);

}  // namespace causeway
