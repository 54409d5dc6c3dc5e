#pragma once

namespace causeway {

/// Runs lead(object) here while up to `helpers` other threads of the current oneTBB arena run help(object), each as
/// soon as it is free; nobody waits for those that come late. Returns when all have returned. Neither may throw, and
/// help must return once lead has.
void fork_join(int helpers, void (*lead)(void* object), void (*help)(void* object), void* object);

}  // namespace causeway
