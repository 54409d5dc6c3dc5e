#pragma once

namespace causeway {

/// Calls body(object, i) for i in [0, count), spread over the threads of the caller's oneTBB arena, each i once.
/// Returns when all have returned. What the caller wrote before is seen by every call, what they wrote by the caller
/// after.
void fork_join(int count, void (*body)(void* object, int i), void* object);

}  // namespace causeway
