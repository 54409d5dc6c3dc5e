#pragma once

#include <string>

#include "config/config.hpp"
#include "io/safetensors.hpp"
#include "train/checkpoint_record.hpp"

namespace causeway::train {

class Trainer;

/// The files of one checkpoint, a folder DIR/checkpoints/step_00001234. It is also the folder of a model: config.json
/// and model.safetensors are as everywhere.
struct CheckpointFolder {
    std::string folder;
    std::string config() const { return folder + "/config.json"; }
    std::string parameters() const { return folder + "/model.safetensors"; }
    std::string optimizer() const { return folder + "/optimizer.safetensors"; }  ///< moments
    std::string state() const { return folder + "/state.json"; }
    std::string hashes() const { return folder + "/hashes.xxh128"; }  ///< of the four others, as xxh128sum prints them
};

/// Fills in what a trainer knows of a record by itself: its state, instruction set and version.
CheckpointRecord record_of(const Trainer& trainer);

/// Writes a checkpoint of a trainer between two steps. The folder appears as a whole, on the disk, in place of an older
/// one of its name. Takes no memory to speak of: tensors go from where they are to the file. Throws IoError.
void write_checkpoint(const CheckpointFolder& at, Trainer& trainer, const CheckpointRecord& record);

/// A checkpoint whose every file has been read and found to be as it was written.
class Checkpoint {
  public:
    /// Throws IoError when a file is missing or its content has another hash than when it was written: the message
    /// names file and hashes. Reads all of it once.
    explicit Checkpoint(const CheckpointFolder& at);

    const CheckpointFolder& at() const { return at_; }
    const CheckpointRecord& record() const { return record_; }
    const Config& config() const { return config_; }  ///< that the run had then

    /// Puts a trainer where the saved one was: parameters, moments, counters. Throws IoError, with the trainer as it
    /// was, when a tensor is missing, left over or has another shape or dtype.
    void load_into(Trainer& trainer) const;

    /// The same after a step that went wrong, except that the data's position stays beyond that step, so that its batch
    /// is not met again, and that the time it took stays counted.
    void roll_back(Trainer& trainer) const;

  private:
    CheckpointFolder at_;
    SafetensorsFile parameters_, optimizer_;
    CheckpointRecord record_;
    Config config_;
};

}  // namespace causeway::train
