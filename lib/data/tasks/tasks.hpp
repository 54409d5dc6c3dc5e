#pragma once

#include "data/task.hpp"

namespace causeway {

// One file a task; a new one is its file, its line here and its line in task_list.cpp.
extern const TaskEntry repeat_task;
extern const TaskEntry lookback_copy_task;
extern const TaskEntry induction_task;

}  // namespace causeway
