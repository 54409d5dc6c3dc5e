#include "train/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/format.hpp"
#include "io/atomic_file.hpp"
#include "io/atomic_folder.hpp"
#include "io/content_hash.hpp"
#include "io/mapped_file.hpp"
#include "train/trainer.hpp"

namespace causeway::train {
namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string read_text(const std::string& path) { return std::string(MappedFile(path).text()); }

/// "<hash>  <name>" a line, as `xxh128sum --check` reads them: hashes by name.
std::map<std::string, std::string> read_hashes(const std::string& path) {
    constexpr std::size_t digits = 32;
    std::map<std::string, std::string> hashes;
    const std::string text = read_text(path);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (end - at > digits + 2)
            hashes[text.substr(at + digits + 2, end - at - digits - 2)] = text.substr(at, digits);
        at = end + 1;
    }
    return hashes;
}

void check_there(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_regular_file(status)) return;
    throw DamageError(fmt::format("{}: is {}: the checkpoint is damaged", path,
                                  std::filesystem::exists(status) ? "no regular file" : "missing"));
}

void check_hash(const std::string& path, const std::map<std::string, std::string>& hashes) {
    check_there(path);
    const auto expected = hashes.find(name_of(path));
    const std::string found = content_hash(MappedFile(path).bytes());
    if (expected != hashes.end() && found == expected->second) return;
    throw DamageError(fmt::format("{}: is damaged: its content has the hash {}, expected {}", path, found,
                                  expected == hashes.end() ? "one in hashes.xxh128" : expected->second));
}

/// The folder, once all of its files are as they were written.
const CheckpointFolder& checked(const CheckpointFolder& at) {
    check_there(at.hashes());
    const std::map<std::string, std::string> hashes = read_hashes(at.hashes());
    for (const std::string& path : {at.state(), at.config(), at.parameters(), at.optimizer()}) check_hash(path, hashes);
    return at;
}

/// Throws IoError unless the file has just these tensors.
void check_tensors(const SafetensorsFile& file, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) {
        const TensorDesc expected = tensor.view.desc;
        const FileTensor found = file.view(tensor.name);
        if (found.desc.dtype == expected.dtype && found.desc.shape == expected.shape) continue;
        throw IoError(fmt::format("{}: '{}' is {} {}, expected {} {}", file.path(), tensor.name,
                                  to_string(found.desc.dtype), to_string(found.desc.shape), to_string(expected.dtype),
                                  to_string(expected.shape)));
    }
    if (file.tensors().size() == tensors.size()) return;
    throw IoError(fmt::format("{}: has {} tensors, expected {}", file.path(), file.tensors().size(), tensors.size()));
}

void copy_tensors(const SafetensorsFile& file, const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) {
        const std::span<const std::byte> bytes = file.view(tensor.name).bytes;
        if (!bytes.empty()) std::memcpy(tensor.view.data, bytes.data(), bytes.size());
    }
}

}  // namespace

CheckpointRecord record_of(const Trainer& trainer) {
    CheckpointRecord record;
    record.trainer = trainer.state();
    record.isa = to_string(trainer.plan("train").isa);
    record.version = CAUSEWAY_PROJECT_VERSION;
    return record;
}

void write_checkpoint(const CheckpointFolder& at, Trainer& trainer, const CheckpointRecord& record) {
    AtomicFolder folder(at.folder);
    const CheckpointFolder files{folder.path()};
    std::string hashes;
    const auto add = [&](const std::string& path, const std::string& hash) {
        hashes += fmt::format("{}  {}\n", hash, name_of(path));
    };
    add(files.config(), write_text_atomically(files.config(), to_json(trainer.config())));
    add(files.parameters(), write_safetensors(files.parameters(), to_write(trainer.parameters())));
    add(files.optimizer(), write_safetensors(files.optimizer(), to_write(trainer.moments())));
    add(files.state(), write_text_atomically(files.state(), to_json(record)));
    write_text_atomically(files.hashes(), hashes);
    folder.commit();
}

Checkpoint::Checkpoint(const CheckpointFolder& at)
    : at_(checked(at)),
      parameters_(at.parameters()),
      optimizer_(at.optimizer()),
      record_(parse_record(read_text(at.state()), at.state())),
      config_(load_config(at.config())) {}

void Checkpoint::load_into(Trainer& trainer) const {
    const std::vector<NamedTensor> parameters = trainer.parameters(), moments = trainer.moments();
    check_tensors(parameters_, parameters);
    check_tensors(optimizer_, moments);
    copy_tensors(parameters_, parameters);
    copy_tensors(optimizer_, moments);
    trainer.set_state(record_.trainer);
    trainer.refresh();
}

void Checkpoint::roll_back(Trainer& trainer) const {
    const TrainerState now = trainer.state();
    load_into(trainer);
    TrainerState state = trainer.state();
    state.window = now.window + 1;
    state.elapsed_seconds = now.elapsed_seconds;
    trainer.set_state(state);
}

}  // namespace causeway::train
