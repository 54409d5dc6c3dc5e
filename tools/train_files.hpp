#pragma once

#include <string>

#include "config/config.hpp"
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

/// Makes the folder, empty of an older run and of what processes that are gone left unfinished, with the config of this
/// one. What is to be written at the end must be writable now: throws IoError when it is not, the older run still
/// there.
void begin_run(const TrainFiles& files, const Config& config);

}  // namespace causeway::cli
