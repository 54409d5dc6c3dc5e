#pragma once

#include <string>

#include "exec/timeline_recorder.hpp"

namespace causeway {

/// What a recorder has seen, in the Chrome trace event format ("Trace Event Format", Google 2016), which
/// chrome://tracing and https://ui.perfetto.dev open: one complete event ("ph": "X") a line, times in microseconds from
/// the first event. One track a thread; that of the thread which runs the plan has, from the outside in, training
/// steps, phases, groups and the tiles of steps, the others have the tiles. A step is named by its node and stage; its
/// arguments are op, group, tiles, FLOPs and bytes (those of the tiles that this thread ran), and its tiles in all.
std::string timeline_json(const TimelineRecorder& recorder);

}  // namespace causeway
