#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "data/batch_source.hpp"

namespace causeway {

/// What a run trains on and what it is measured on. Both have (train.batch_size, train.sequence_length) batches.
struct DataSources {
    std::unique_ptr<BatchSource> train;
    std::unique_ptr<BatchSource> validation;
    std::string description;  ///< for people: which text of how many tokens, or which task
};

/// Opens what section "data" of a resolved config asks for. A built-in task is validated on 256 rows of its own.
/// Throws IoError or DataError for the file, ConfigError when the task does not fit the config.
DataSources open_data(const Config& config);

}  // namespace causeway
