#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "train/checkpoint_support.hpp"
#include "train/resume.hpp"

using namespace causeway;
using namespace causeway::train;
namespace fs = std::filesystem;

TEST_CASE("a resumed run may change what does not make it another run, and says it") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    const std::string text = some_text(folder);
    {
        Trainer trainer(everything(text));
        save_steps(run, trainer, 1);
    }
    Trainer trainer(everything(some_text(folder, "moved.txt"), {"train.max_steps=40", "runtime.threads=3",
                                                                "train.log_every=3", "runtime.isa=reference"}));
    const Resumed resumed = resume(trainer, find_checkpoint(run));
    std::string notes;
    for (const std::string& note : resumed.notes) notes += note + "\n";
    CHECK_THAT(notes,
               contains("data.path \"" + text + "\" -> ") &&
                   contains("train.max_steps 20 -> 40: where the run ends; the learning rates of the schedule") &&
                   contains("runtime.threads 0 -> 3\n") && contains("train.log_every 10 -> 3\n"));
    // Where the environment forces one instruction set, both runs have it.
    if (std::getenv("CAUSEWAY_ISA") == nullptr) CHECK_THAT(notes, contains("kernels of reference, so far "));
    for (const char* change : {"train.batch_size=4", "train.seed=12", "train.learning_rate=0.02", "model.resid_pdrop=0",
                               "data.sampling=random", "train.gradient_accumulation_steps=1"}) {
        Trainer other(everything(text, {change}));
        const std::string field = std::string(change).substr(0, std::string(change).find('='));
        CHECK_THROWS_MESSAGE(resume(other, find_checkpoint(run)), ConfigError, field + ": found ");
        CHECK(other.steps_done() == 0);
    }
}

TEST_CASE("data that is not what the run was trained on is refused") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(everything(some_text(folder)));
    save_steps(run, trainer, 1);
    Trainer changed(everything(some_text(folder, "other.txt", 1)));
    CHECK_THROWS_MESSAGE(resume(changed, find_checkpoint(run)), DataError,
                         "the data is not what the run was trained on");
    Trainer longer(everything(folder.write("longer.txt", content_of(folder.file("text.txt")) + std::string(20, '!'))));
    CHECK_THROWS_MESSAGE(resume(longer, find_checkpoint(run)), DataError, "fingerprint");
    CHECK(longer.steps_done() == 0);
}

TEST_CASE("a file that shrinks under a run ends it with an error, and what was learned is saved") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    const std::string text = some_text(folder), whole = content_of(text);
    Trainer trainer(everything(text));
    RunCheckpoints checkpoints(run, trainer);
    trainer.step();
    fs::resize_file(text, 100);
    CHECK_THROWS_MESSAGE(trainer.step(), IoError, "text.txt: has become shorter while it was being read: found 100");
    CHECK_THROWS_MESSAGE(trainer.evaluate(), IoError, "expected 420");
    checkpoints.save("");
    folder.write("text.txt", whole);
    Trainer other(everything(text));
    CHECK(resume(other, find_checkpoint(run)).step == 1);
    // Another file of that name is no matter to who has the old one open.
    folder.write("new.txt", "short");
    fs::rename(folder.file("new.txt"), text);
    CHECK(std::isfinite(other.step().loss));
}

TEST_CASE("a file that is rewritten under a run is noticed before its content becomes a checkpoint") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(everything(some_text(folder)));
    RunCheckpoints checkpoints(run, trainer);
    trainer.step();
    checkpoints.save("");
    trainer.step();
    std::fstream(folder.file("text.txt"), std::ios::in | std::ios::out) << std::string(420, 'x');
    CHECK_THROWS_MESSAGE(checkpoints.save(""), IoError, "the data has changed while it was being read");
    CHECK(names_in(run.checkpoints()) == std::vector<std::string>{"step_00000001"});
}
