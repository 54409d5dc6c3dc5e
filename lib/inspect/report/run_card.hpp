#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::report {

enum class RunState { running, done, stopped, failed };
/// The enumerator's name.
std::string_view to_string(RunState state);

/// A time in which one process trained the run: the first, or one that resumed it.
struct Session {
    std::string started;  ///< "2026-03-01T12:00:00Z"
    std::int64_t first_step = 1;
    RunState state = RunState::running;
    std::string ended_by;  ///< why, in words; empty while running
    std::int64_t pid = 0;
};

/// What a run's report needs beside its config and its records: run.json in its folder.
struct RunCard {
    std::string version;  ///< of causeway
    std::string data;     ///< what is trained on, in words
    std::string cpu, isa;
    int threads = 0;
    double peak_flops_per_second = 0;  ///< measured; 0: not
    std::int64_t parameters = 0;
    std::int64_t parameter_bytes = 0, state_bytes = 0, scratch_bytes = 0;
    double flops_per_step = 0;
    std::int64_t plan_steps = 0, plan_groups = 0;
    std::int64_t tokens_per_step = 0;  ///< at most; the last of an epoch may have fewer
    std::int64_t planned_steps = 0;    ///< 0: not known beforehand
    std::vector<Session> sessions;

    /// As it is now: one that says it is running while its process is gone was stopped from outside. Without sessions
    /// one that was stopped.
    Session last_session() const;
};

std::string to_json(const RunCard& card);

/// Nothing when there is no such file. Throws IoError for one that is no card.
std::optional<RunCard> read_card(const std::string& path);

/// "2026-03-01T12:00:00Z", now.
std::string utc_time();

}  // namespace causeway::report
