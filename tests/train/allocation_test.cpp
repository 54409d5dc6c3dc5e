#include <algorithm>
#include <cstdlib>

#include "base/format.hpp"
#include "inspect/run_profile.hpp"
#include "inspect/run_timeline.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "train/allocation_counter.hpp"
#include "train/metrics.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

/// The hook's counts over 20 steps.
allocation_counter::Counts count_steps(Trainer& trainer) {
    allocation_counter::start();
    for (int i = 0; i < 20; ++i) trainer.step();
    return allocation_counter::stop();
}

void warm_up(Trainer& trainer) {
    for (int i = 0; i < 5; ++i) trainer.step();
}

Config byte_model(int threads) {
    return config_file("kjv_bytes.json",
                       {"data.source=lookback_copy", "data.path=\"\"", "data.validation_stride=0", "train.batch_size=3",
                        "model.num_hidden_layers=2", fmt::format("runtime.threads={}", threads)});
}

}  // namespace

TEST_CASE("the allocation hook sees what is allocated") {
    if (!allocation_counter::counts()) WARN("a sanitizer owns malloc: nothing is counted in this build");
    allocation_counter::start();
    const int* volatile one = new int(1);  // volatile: what is unused must not be optimised away
    delete one;
    void* volatile data = std::malloc(10);
    data = std::realloc(data, 1000);
    std::free(data);
    CHECK(allocation_counter::stop().own == (allocation_counter::counts() ? 3 : 0));
}

TEST_CASE("a training step on one thread allocates nothing") {
    for (const Config& config :
         {small_gpt2({"runtime.threads=1", "train.gradient_accumulation_steps=2"}),
          small_gpt2({"runtime.threads=1", "model.attention_dropout=0.1", "model.embd_pdrop=0.1",
                      "model.resid_pdrop=0.1", "model.position_embedding=alibi", "model.sliding_window=5"}),
          small_gpt2(minimind_blocks({"runtime.threads=1"})), small_gpt2(expert_blocks({"runtime.threads=1"})),
          config_file("repeat_h4.json", {"runtime.threads=1"}), byte_model(1)}) {
        Trainer trainer(config);
        warm_up(trainer);
        const allocation_counter::Counts counts = count_steps(trainer);
        CHECK(counts.own == 0);
        CHECK(counts.libtbb == 0);
    }
}

TEST_CASE("a training step on several threads allocates nothing outside libtbb") {
    for (int threads : {2, 3}) {
        Trainer trainer(byte_model(threads));
        warm_up(trainer);
        // On a busy machine a worker may start late, and the system allocates for a new thread: once. A step that
        // allocates does so in every window.
        std::int64_t fewest = count_steps(trainer).own;
        for (int window = 1; window < 5 && fewest > 0; ++window) fewest = std::min(fewest, count_steps(trainer).own);
        CHECK(fewest == 0);
    }
}

TEST_CASE("a training step whose time is profiled and recorded allocates nothing") {
    Trainer trainer(small_gpt2({"runtime.threads=1", "train.gradient_accumulation_steps=2"}));
    const RunProfile profile(trainer.runtime());
    const RunTimeline timeline(trainer.runtime(), {1, 15, 2});
    CHECK(count_steps(trainer).own == 0);
    CHECK(timeline.complete());
}

TEST_CASE("evaluating allocates nothing, nor does writing metrics") {
    const TemporaryFolder folder;
    MetricsWriter metrics(folder.file("metrics.jsonl"));
    Trainer trainer(small_gpt2(expert_blocks({"runtime.threads=1"})));
    Progress progress;
    progress.step = trainer.step();
    progress.validation = trainer.evaluate();
    progress.epoch = EpochReport{1, progress.step.loss};
    allocation_counter::start();
    trainer.evaluate();
    metrics.write(progress);
    CHECK(allocation_counter::stop().own == 0);
}
