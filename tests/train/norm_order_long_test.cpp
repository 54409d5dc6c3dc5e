#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

TEST_CASE("S2-12: six layers of width 192 learn the repeat task with the norms before and after the sub-blocks") {
    for (const std::string name : {"repeat_pre_ln.json", "repeat_post_ln.json"}) {
        Trainer trainer(config_file(name));
        const RunResult result = trainer.run();
        INFO(name << ": loss " << result.last_step.loss);
        CHECK(result.last_step.loss < 0.05);
    }
}
