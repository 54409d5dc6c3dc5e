#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "data/batch_source.hpp"
#include "data/token_bytes.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// What a run trains on and what it is measured on. Both have (train.batch_size, train.sequence_length) batches.
struct DataSources {
    std::unique_ptr<BatchSource> train;
    std::unique_ptr<BatchSource> validation;
    std::string description = {};  ///< for people: which files of how many tokens, or which task
    /// What the tokens say; null where nobody knows: built-in tasks, token files without data.tokenizer.
    std::shared_ptr<const Tokenizer> tokenizer = {};
    std::shared_ptr<const TokenBytes> bytes = {};  ///< of each token, for bits per byte; null with the tokenizer
};

/// Opens what section "data" of a resolved config asks for. A built-in task is validated on 256 rows of its own.
/// Throws IoError or DataError for a file, ConfigError when a task or the tokenizer does not fit the config.
DataSources open_data(const Config& config);

/// The same with the tokenizer of data.tokenizer opened already.
DataSources open_data(const Config& config, std::shared_ptr<const Tokenizer> tokenizer);

/// The validation part alone; `train` stays null. With data.validation_path nothing else is opened.
DataSources open_validation(const Config& config);

}  // namespace causeway
