#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/report/curve.hpp"

namespace causeway::report {

/// Steps of one kind: how many, and the first of them.
struct StepList {
    static constexpr std::size_t shown = 200;
    std::int64_t count = 0;
    std::vector<std::int64_t> steps;

    void add(std::int64_t step);
};

/// What metrics.jsonl tells, in bounded memory. Keys it does not know are passed over, and those that are missing or
/// null leave their curve without a point.
class RunHistory {
  public:
    /// Reads what the file has gained since the last time; all of it again when it has become shorter, as a resumed run
    /// makes it. A last line without its newline waits for the next time. A file that is not there has nothing to tell.
    /// Throws IoError when it cannot be read. O(bytes gained).
    void read(const std::string& path);

    Curve loss, validation, accuracy, learning_rate, grad_norm, tokens_per_second, epoch_loss, aux_loss;
    Curve bits_per_byte;                    ///< of the validation
    Curve least_load, most_load;            ///< shares of the least and the most used expert of any layer
    std::vector<std::vector<double>> load;  ///< (layers, experts) of the last step that has one
    StepList not_finite;                    ///< loss or gradient norm was no finite number
    StepList skipped;                       ///< nothing was learned
    std::int64_t steps = 0;                 ///< number of the last one
    double seconds = 0;                     ///< of training, over all sessions
    std::string ended_by;                   ///< as the last line says, see train::EndedBy; empty: no end
    double last_loss = 0;                   ///< NaN: not finite
    std::optional<double> last_validation;  ///< not finite: none
    std::optional<double> best_validation;
    std::int64_t best_step = 0;
    std::int64_t unreadable = 0;  ///< lines that are no JSON object with a step

  private:
    void add_line(std::string_view line);

    std::int64_t read_bytes_ = 0;
};

}  // namespace causeway::report
