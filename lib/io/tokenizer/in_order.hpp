#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <utility>

namespace causeway {

/// Makes something of each chunk, several at once, and takes the results in the order of the chunks. `next()` gives an
/// optional chunk, work(chunk) a result, on another thread. What either throws comes out when no thread works any more.
template <class Next, class Work, class Take>
void in_order(int threads, Next next, const Work& work, Take take) {
    using Result = decltype(work(*next()));
    // Futures of std::async wait for their threads when they are destroyed: nothing outlives an exception. A thread a
    // chunk costs some 20 us, where the chunk takes tens of milliseconds.
    std::deque<std::future<Result>> running;
    const auto take_first = [&] {
        Result result = running.front().get();
        running.pop_front();
        take(std::move(result));
    };
    const auto most = static_cast<std::size_t>(threads < 1 ? 1 : threads);
    while (auto chunk = next()) {
        if (running.size() == most) take_first();
        running.push_back(std::async(std::launch::async, [&work, part = std::move(*chunk)] { return work(part); }));
    }
    while (!running.empty()) take_first();
}

}  // namespace causeway
