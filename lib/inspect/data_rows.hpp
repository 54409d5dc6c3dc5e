#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// A row as training gets it.
struct DataRow {
    std::int64_t number = 0;
    std::vector<std::int32_t> inputs, targets;  ///< (T) each

    /// Targets that carry loss.
    std::int64_t scored() const;
    /// False where a target is not the next input: in built-in tasks.
    bool is_shifted() const;

    struct Token {
        std::int32_t id;
        bool loss;  ///< predicting it is learned
    };
    /// A shifted row as one sequence: T + 1 tokens at most, without padding at the end.
    std::vector<Token> sequence() const;
};

/// What a config trains on, with some rows of it.
struct DataSample {
    std::string description;  ///< see DataSources
    std::int64_t batch_size = 0, sequence_length = 0;
    std::int64_t rows_per_epoch = 0;  ///< of training; 0: drawn without end
    std::int64_t validation_rows = 0;
    bool validation = false;  ///< the rows are of validation
    std::vector<DataRow> rows;
    std::shared_ptr<const Tokenizer> tokenizer;  ///< null: the tokens are numbers
};

/// Opens the data of a resolved config and takes rows first .. first + count - 1 of training or validation, as far as
/// an epoch goes. Throws what opening and reading the data throw.
DataSample sample_data(const Config& config, std::int64_t first, std::int64_t count, bool validation);

/// How rows are shown.
struct RowStyle {
    bool colour = false;  ///< tokens with loss are green; otherwise they stand between {+ and +}
    bool ids = false;     ///< ids even where there is text
};

/// Description and counts, then the rows. Control characters and bytes that are no UTF-8 are escaped; where the text
/// has a newline a line ends, behind a visible \n.
std::string data_sample_text(const DataSample& sample, const RowStyle& style);

/// One JSON object on a line: description, batch_size, sequence_length, rows_per_epoch, validation_rows, part and rows,
/// each with row, inputs, targets, scored and, where there is text, text and loss_text.
std::string data_sample_json(const DataSample& sample);

}  // namespace causeway
