#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

/// In memory where the system has such a place: a checkpoint forced to a disk that is busy with other tests takes many
/// times as long as the steps before it.
TemporaryFolder folder_in_memory();

/// Steps of the run that resumable_config describes.
inline constexpr std::size_t straight_steps = 400;

/// A config whose run meets everything that a resume has to get right: dropout, accumulation, shuffled epochs, a
/// schedule, evaluations, checkpoints every 8 steps. Its text is in the folder too. The path of the config.
std::string resumable_config(const TemporaryFolder& folder);

/// Runs the command without reading along, calls `watch` with its process meanwhile, and waits for its end.
Outcome run_and_watch(const std::vector<std::string>& arguments, const std::function<void(pid_t)>& watch,
                      const std::function<void()>& in_child = {});

/// Requires of two finished runs the same bits in the newest checkpoint, and the same metrics but for times. After an
/// interruption by a signal an evaluation may be missing: whole = false then looks at what both have.
void check_same_run(const std::string& run, const std::string& expected, bool whole);

/// Kills a run so many times at random moments, each time it is resumed, and requires the result of a run that was left
/// alone; begins anew where the run ends before. The first kill meets a save. Returns how many did: they left a
/// checkpoint unfinished.
int kill_and_resume(int kills);
