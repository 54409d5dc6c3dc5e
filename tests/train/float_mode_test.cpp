#include "exec/float_mode.hpp"

#include <atomic>
#include <cfenv>
#include <cmath>

#include "exec/model_runtime.hpp"
#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

volatile float smallest_normal = 1.17549435e-38f;

/// Whether this thread flushes denormals to zero right now.
bool flushes() {
    const float half = smallest_normal * 0.5f;
    return half == 0.0f;
}

}  // namespace

TEST_CASE("B68: tiles run with denormals flushed on every thread, and callers get their own mode back") {
    REQUIRE(!flushes());
    for (int threads : {1, 4}) {
        ThreadPool pool(threads);
        std::atomic<int> flushing{0};
        auto tiles = [&](std::int64_t begin, std::int64_t end) {
            if (flushes()) flushing += static_cast<int>(end - begin);
        };
        for (int repeat = 0; repeat < 50; ++repeat) pool.run([&] { pool.parallel(64, TileWork(tiles)); });
        CHECK(flushing == 50 * 64);
        CHECK(!flushes());
    }
}

TEST_CASE("B68: a caller that flushes, or rounds upwards, finds its mode unchanged after a step") {
    Trainer trainer(small_gpt2());
    trainer.step();
    CHECK(!flushes());
    {
        const FlushDenormals mine;
        trainer.step();
        CHECK(flushes());
    }
    CHECK(!flushes());
    std::fesetround(FE_UPWARD);
    trainer.step();
    const int mode = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(mode == FE_UPWARD);
}

TEST_CASE("B68: the mode comes back after a step that throws") {
    Trainer trainer(small_gpt2());
    find(trainer.parameters(), "wte.weight").view.as<float>()[0] = __builtin_nanf("");
    trainer.refresh();
    CHECK_THROWS_AS(trainer.step(), NumericError);
    CHECK(!flushes());
}

TEST_CASE("B68: denormal weights and moments leave no denormals behind") {
    Trainer trainer(small_gpt2());
    for (const NamedTensor& tensor : trainer.moments()) {
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) tensor.view.as<float>()[i] = 1e-40f;
    }
    for (const NamedTensor& tensor : trainer.parameters()) tensor.view.as<float>()[0] = 1e-40f;
    trainer.refresh();
    const StepReport report = trainer.step();
    CHECK(report.updated);
    for (const NamedTensor& tensor : trainer.moments()) {
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) {
            const float value = std::abs(tensor.view.as<float>()[i]);
            REQUIRE((value == 0 || value >= 1.17549435e-38f));
        }
    }
}
