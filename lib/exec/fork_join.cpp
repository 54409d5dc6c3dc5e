#include "exec/fork_join.hpp"

#include <tbb/task_group.h>

// A source of its own, compiled without ThreadSanitizer: the distribution's libtbb is not instrumented, so that its
// hand-over of a task from thread to thread looks like a race in oneTBB's headers. Our side marks fork and join.

namespace causeway {

void fork_join(int helpers, void (*lead)(void* object), void (*help)(void* object), void* object) {
    tbb::task_group group;
    for (int i = 0; i < helpers; ++i) group.run([=] { help(object); });
    lead(object);
    group.wait();
}

}  // namespace causeway
