#include <array>

#include "data/tasks/tasks.hpp"

namespace causeway {

std::span<const TaskEntry> built_in_tasks() {
    // Built at first use, so that it does not matter which file's constants are initialised first.
    static const std::array tasks{
        repeat_task,
        lookback_copy_task,
        induction_task,
    };
    return tasks;
}

}  // namespace causeway
