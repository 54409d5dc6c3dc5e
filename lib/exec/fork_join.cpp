#include "exec/fork_join.hpp"

#include <tbb/parallel_for.h>

// A source of its own, compiled without ThreadSanitizer: the distribution's libtbb is not instrumented, so that its
// hand-over of a task from thread to thread looks like a race in oneTBB's headers. Our side marks fork and join.

namespace causeway {

void fork_join(int count, void (*body)(void* object, int i), void* object) {
    tbb::parallel_for(
        0, count, 1, [=](int i) { body(object, i); }, tbb::static_partitioner{});
}

}  // namespace causeway
