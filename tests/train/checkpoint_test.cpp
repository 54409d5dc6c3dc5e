#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <tuple>

#include "base/format.hpp"
#include "io/atomic_file.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/under_sanitizer.hpp"
#include "train/checkpoint_support.hpp"
#include "train/flat_memory.hpp"
#include "train/resume.hpp"

using namespace causeway;
using namespace causeway::train;
namespace fs = std::filesystem;

namespace {

/// What a run leaves, step by step, to be compared bit for bit.
struct Record {
    std::vector<std::tuple<std::int64_t, double, double>> steps;  ///< number, loss, norm
    std::vector<std::tuple<std::int64_t, double>> validations, epochs;
    bool operator==(const Record&) const = default;
};

/// Runs until a step, or to the end.
void run_until(Trainer& trainer, RunCheckpoints& checkpoints, std::int64_t last, Record& record) {
    std::atomic<bool> stop{false};
    RunHooks hooks;
    hooks.stop = &stop;
    hooks.on_step = [&](const Progress& progress) {
        const std::int64_t step = progress.step.step;
        record.steps.emplace_back(step, progress.step.loss, progress.step.grad_norm);
        if (progress.validation) record.validations.emplace_back(step, progress.validation->loss);
        if (progress.validation) checkpoints.evaluated(step, progress.validation->loss);
        if (progress.epoch) record.epochs.emplace_back(progress.epoch->epoch, progress.epoch->mean_loss);
        stop = step >= last;
    };
    trainer.run(hooks);
}

/// Trains in parts that end at these steps, each in a trainer of its own, the next one resumed from the folder.
std::pair<Record, Trace> train_in_parts(const RunFolder& run, const std::vector<Config>& configs,
                                        const std::vector<std::int64_t>& ends) {
    Record record;
    Trace trace;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        Trainer trainer(configs[i % configs.size()]);
        RunCheckpoints checkpoints(run, trainer);
        if (i > 0) {
            const FoundCheckpoint found = find_checkpoint(run);
            CHECK(resume(trainer, found).step == ends[i - 1]);
            checkpoints.resumed_from(*found.checkpoint);
        }
        run_until(trainer, checkpoints, ends[i], record);
        checkpoints.save("");
        trace.parameters = values_of(trainer.parameters());
        trace.moments = values_of(trainer.moments());
    }
    return {record, trace};
}

void damage(const std::string& path, std::uintmax_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 4));
}

}  // namespace

TEST_CASE("B65, B67: 20 steps, 10 + 10, 7 + 13 and 1 + 6 + 13 give the same bits, on any numbers of threads") {
    const TemporaryFolder folder;
    const std::string text = some_text(folder);
    const auto config = [&](int threads) { return everything(text, {fmt::format("runtime.threads={}", threads)}); };
    const auto straight = train_in_parts({folder.file("straight")}, {config(1)}, {20});
    CHECK(straight.first.steps.size() == 20);
    CHECK(straight.first.validations.size() == 5);
    CHECK(straight.first.epochs.size() == 2);
    CHECK(std::get<1>(straight.first.steps.back()) < std::get<1>(straight.first.steps.front()));
    CHECK(train_in_parts({folder.file("a")}, {config(2)}, {10, 20}) == straight);
    CHECK(train_in_parts({folder.file("b")}, {config(1), config(2)}, {7, 20}) == straight);
    CHECK(train_in_parts({folder.file("c")}, {config(3), config(1), config(8)}, {1, 7, 20}) == straight);
}

TEST_CASE("B65: so do experts with their balance, and the optimizer adam") {
    const TemporaryFolder folder;
    int number = 0;
    for (const Config& config : {small_gpt2(expert_blocks({"train.max_steps=9", "train.eval_every=3"})),
                                 small_gpt2({"train.optimizer=adam", "train.weight_decay=0", "train.max_steps=9"})}) {
        const std::string name = folder.file(std::to_string(number++));
        CHECK(train_in_parts({name + "s"}, {config}, {9}) == train_in_parts({name + "p"}, {config}, {4, 9}));
    }
}

TEST_CASE("a checkpoint in double precision keeps every bit") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    TrainerOptions options, again;
    options.dtype = again.dtype = DType::f64;
    Trainer one(small_gpt2(), std::move(options)), two(small_gpt2(), std::move(again));
    save_steps(run, one, 3);
    resume(two, find_checkpoint(run));
    CHECK(one.step().loss == two.step().loss);
    CHECK(values_of(one.moments()) == values_of(two.moments()));
    // A trainer in single precision has no use for it, and stays as it was.
    Trainer single(small_gpt2());
    const std::vector<double> before = values_of(single.parameters());
    CHECK_THROWS_MESSAGE(resume(single, find_checkpoint(run)), IoError, "is f64");
    CHECK(values_of(single.parameters()) == before);
    CHECK(single.steps_done() == 0);
}

TEST_CASE("a checkpoint is a folder of files with hashes, and of a model") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(small_gpt2());
    save_steps(run, trainer, 2);
    const std::string newest = list_checkpoints(run).front().folder;
    CHECK(newest == run.folder + "/checkpoints/step_00000002");
    CHECK(names_in(newest) == std::vector<std::string>{"config.json", "hashes.xxh128", "model.safetensors",
                                                       "optimizer.safetensors", "state.json"});
    CHECK(load_run({newest}) == trainer.config());
    CHECK(SafetensorsFile(newest + "/optimizer.safetensors").tensors().size() == trainer.moments().size());
    // The weights are there once.
    CHECK(fs::equivalent(newest + "/model.safetensors", run.parameters()));
    Trainer other(load_run({newest}));
    CHECK(other.load_parameters(newest).empty());
    CHECK(values_of(other.parameters()) == values_of(trainer.parameters()));
}

TEST_CASE("the newest checkpoints stay, and the best one") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(small_gpt2({"train.keep_checkpoints=2"}));
    RunCheckpoints checkpoints(run, trainer);
    const std::map<int, double> losses{{2, 3.0}, {3, 2.0}, {5, 2.5}};
    for (int step = 1; step <= 7; ++step) {
        trainer.step();
        if (losses.contains(step)) checkpoints.evaluated(step, losses.at(step));
        checkpoints.save("");
        checkpoints.save("");  // a second time does nothing
    }
    CHECK(names_in(run.checkpoints()) == std::vector<std::string>{"step_00000003", "step_00000006", "step_00000007"});
    CHECK(Checkpoint({run.checkpoints() + "/step_00000003"}).record().validation_loss == 2.0);
    const CheckpointRecord last = Checkpoint({run.checkpoints() + "/step_00000007"}).record();
    CHECK(!last.validation_loss);
    CHECK(last.best == BestEvaluation{3, 2.0});
}

TEST_CASE("B63: whatever file of the newest checkpoint is damaged, the one before it is used, and that is said") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(small_gpt2());
    save_steps(run, trainer, 2);
    const std::string newest = run.checkpoints() + "/step_00000002";
    const fs::path kept = folder.file("kept");
    fs::copy(newest, kept);
    for (const std::string& name : names_in(newest)) {
        const std::string file = newest + "/" + name;
        const std::uintmax_t size = fs::file_size(file);
        const std::vector<std::function<void()>> damages{
            [&] { damage(file, 0); },
            [&] { damage(file, size / 2); },
            [&] { damage(file, size - 1); },
            [&] { fs::resize_file(file, size / 2); },
            [&] { fs::resize_file(file, 0); },
            [&] { fs::remove(file); },
            [&] { fs::remove(file) && fs::create_directory(file); },
            [&] { fs::remove(file) && mkfifo(file.c_str(), 0666) == 0; },
        };
        for (std::size_t i = 0; i < damages.size(); ++i) {
            INFO(name << ", damage " << i);
            damages[i]();
            const FoundCheckpoint found = find_checkpoint(run);
            REQUIRE(found.checkpoint);
            CHECK(found.checkpoint->record().trainer.step == 1);
            REQUIRE(found.faults.size() == 1);
            CHECK_THAT(found.faults[0], contains(newest));
            fs::remove_all(newest);
            fs::copy(kept, newest);
        }
    }
    damage(newest + "/model.safetensors", 500);
    Trainer other(small_gpt2());
    const FoundCheckpoint found = find_checkpoint(run);
    const Resumed resumed = resume(other, found);
    REQUIRE(resumed.warnings.size() == 1);
    CHECK_THAT(resumed.warnings[0], contains("model.safetensors: is damaged") && contains("step_00000001"));
    set_aside(found);
    CHECK(names_in(run.checkpoints()) == std::vector<std::string>{"step_00000001", "step_00000002.damaged"});
    // The run makes it anew.
    RunCheckpoints checkpoints(run, other);
    checkpoints.resumed_from(*found.checkpoint);
    other.step();
    checkpoints.save("");
    CHECK(find_checkpoint(run).checkpoint->record().trainer.step == 2);
    damage(run.checkpoints() + "/step_00000001/state.json", 9);
    damage(run.checkpoints() + "/step_00000002/state.json", 9);
    CHECK_THROWS_MESSAGE(find_checkpoint(run), IoError, "all 2 checkpoints of the run are damaged");
}

TEST_CASE("a checkpoint of the same step is replaced as a whole") {
    const TemporaryFolder folder;
    Trainer trainer(small_gpt2());
    const CheckpointFolder at{folder.file("step_00000000")};
    CheckpointRecord record = record_of(trainer);
    record.metrics_line = "first";
    write_checkpoint(at, trainer, record);
    record.metrics_line = "second";
    write_checkpoint(at, trainer, record);
    CHECK(Checkpoint(at).record().metrics_line == "second");
    CHECK(names_in(folder.path().string()) == std::vector<std::string>{"step_00000000"});
}

TEST_CASE("a checkpoint of another model is refused, and a newer format") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(small_gpt2());
    save_steps(run, trainer, 1);
    Trainer wider(small_gpt2({"model.hidden_size=27"}));
    const Checkpoint checkpoint({run.checkpoints() + "/step_00000001"});
    CHECK_THROWS_MESSAGE(checkpoint.load_into(wider), IoError, "expected f32 (29, 27)");
    CHECK_THROWS_MESSAGE(resume(wider, find_checkpoint(run)), ConfigError,
                         "model.hidden_size: found 27, expected 24 as in the checkpoint");
    std::string json = to_json(record_of(trainer));
    json.replace(json.find("\"format\": 1"), 11, "\"format\": 2");
    CHECK_THROWS_MESSAGE(parse_record(json, "state.json"), IoError, "found format 2, expected at most 1");
    // Its hashes are right: no reason to pass it over.
    const std::string folder_of_it = run.checkpoints() + "/step_00000001";
    const std::string old_hash = content_hash(MappedFile(folder_of_it + "/state.json").bytes());
    const std::string new_hash = write_text_atomically(folder_of_it + "/state.json", json);
    std::string hashes = content_of(folder_of_it + "/hashes.xxh128");
    hashes.replace(hashes.find(old_hash), old_hash.size(), new_hash);
    write_text_atomically(folder_of_it + "/hashes.xxh128", hashes);
    CHECK_THROWS_MESSAGE(find_checkpoint(run), IoError, "found format 2, expected at most 1");
    CHECK_THROWS_MESSAGE(parse_record("{}", "state.json"), IoError, "state.json: is not the state of a checkpoint");
    CHECK_THROWS_MESSAGE(parse_record("[", "state.json"), IoError, "state.json: is not the state of a checkpoint");
    std::string guards = to_json(record_of(trainer));
    guards.replace(guards.find("weighted_norms"), 14, "weighted_worms");
    CHECK_THROWS_MESSAGE(parse_record(guards, "state.json"), IoError, "key 'weighted_norms' not found");
}

TEST_CASE("a record reads back to the same bits") {
    CheckpointRecord record;
    record.trainer = {1LL << 60, 5, 3, 0.1 + 0.2, 7, 1e-310, {1.0 / 3, -0.0, 4, 3, 2}};
    record.validation_loss = std::nextafter(2.0, 3.0);
    record.best = BestEvaluation{9, 5e-324};
    record.metrics_line = R"({"step":1,"loss":2.5})";
    record.data_fingerprint = "f";
    record.isa = "avx2";
    record.version = "1.2.3";
    const CheckpointRecord back = parse_record(to_json(record), "state.json");
    CHECK(back.trainer == record.trainer);
    CHECK(std::signbit(back.trainer.guards.weights));
    CHECK(back.validation_loss == record.validation_loss);
    CHECK(back.best == record.best);
    CHECK(back.metrics_line == record.metrics_line);
    CHECK(back.data_fingerprint + back.isa + back.version == "favx21.2.3");
}

TEST_CASE("going back to a checkpoint does not go back in the data") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("run")};
    Trainer trainer(everything(some_text(folder)));
    RunCheckpoints checkpoints(run, trainer);
    CHECK_THROWS_MESSAGE(checkpoints.roll_back(), IoError, "has no checkpoint to go back to");
    trainer.step();
    checkpoints.save("");
    const std::vector<double> parameters = values_of(trainer.parameters()), moments = values_of(trainer.moments());
    trainer.step();
    trainer.step();
    CHECK(checkpoints.roll_back() == 1);
    CHECK(values_of(trainer.parameters()) == parameters);
    CHECK(values_of(trainer.moments()) == moments);
    CHECK(trainer.state().step == 1);
    CHECK(trainer.state().window == 4);
    trainer.step();
    checkpoints.save("");
    CHECK(Checkpoint({run.checkpoints() + "/step_00000002"}).record().trainer.window == 5);
}

TEST_CASE("saving takes no memory of the model's size") {
    if (under_sanitizer || !reset_peak()) {
        SUCCEED("skipped: the peak of this process's memory cannot be told");
        return;
    }
    const TemporaryFolder folder;
    Trainer trainer(small_gpt2({"model.hidden_size=264", "model.num_hidden_layers=4", "runtime.threads=1"}));
    RunCheckpoints checkpoints({folder.file("run")}, trainer);
    reset_peak();
    const std::int64_t before = peak_kib();
    checkpoints.save("");
    CHECK(fs::file_size(folder.file("run/model.safetensors")) > 10'000'000);
    CHECK(peak_kib() - before < 2048);
}

TEST_CASE("B68: memory stays flat over evaluations and checkpoints") { check_flat_memory(60); }
