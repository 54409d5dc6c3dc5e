#include <fstream>
#include <string>

#include "base/philox.hpp"
#include "infer/generator.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::infer;

namespace {

/// Resident memory of this process in KiB.
std::int64_t resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
    }
    return 0;
}

}  // namespace

TEST_CASE("B68: memory stays flat over 2000 prompts of random length") {
    const Config config = parse_config(R"({"model": {"vocab_size": 300, "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 128, "initializer_range": 0.3},
        "data": {"source": "repeat"}, "train": {"batch_size": 1}, "runtime": {"threads": 2}})",
                                       "test");
    Generator generator(config, {3, 0, 32});
    generator.refresh();
    RandomStream random(7, 0);
    GenerationOptions options;
    options.sampling.top_p = 0.9;
    options.sampling.repetition_penalty = 1.2;
    const auto some_prompts = [&] {
        std::vector<std::vector<std::int32_t>> prompts(1 + random.next_below(3));
        for (auto& prompt : prompts) {
            prompt.resize(1 + random.next_below(200));
            for (std::int32_t& id : prompt) id = static_cast<std::int32_t>(random.next_below(300));
        }
        return prompts;
    };
    std::int64_t warm = 0;
    for (int done = 0; done < 2000;) {
        options.max_new_tokens = static_cast<std::int64_t>(random.next_below(40));
        const auto prompts = some_prompts();
        generator.generate(prompts, options);
        const int before = done;
        done += static_cast<int>(prompts.size());
        if (before < 300 && done >= 300) warm = resident_kib();
    }
    CHECK(warm > 0);
    CHECK(resident_kib() < warm + 2048);
}
