#pragma once

#include <string>

#include "config/config.hpp"
#include "io/folder_lock.hpp"
#include "io/run_folder.hpp"

namespace causeway::cli {

/// The files that training reads and writes.
struct TrainFiles {
    RunFolder run;
    std::string config;  ///< what the run is started with
    std::string trace;   ///< empty: none
    bool overwrite = false;
};

/// Throws IoError for a folder that holds a run which is not to be replaced, and for a trace that would replace a file
/// of the run, its config or its data. Touches nothing.
void check_files(const TrainFiles& files, const Config& config);

/// Throws IoError for a trace that would replace a file of the run, its config or its data, or is a folder.
void check_trace(const TrainFiles& files, const Config& config);

/// Makes the folder, locked, empty of an older run and of what processes that are gone left unfinished. What is to be
/// written at the end must be writable now: throws IoError when it is not, or when another process trains there, the
/// older run still there.
FolderLock empty_folder(const TrainFiles& files);

/// Puts the config of the run into its folder. Throws IoError.
void write_config(const RunFolder& run, const Config& config);

}  // namespace causeway::cli
