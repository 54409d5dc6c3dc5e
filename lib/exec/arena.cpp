#include "exec/arena.hpp"

#include <algorithm>

#include "base/ceil_div.hpp"
#include "base/cpu.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

constexpr double mebibyte = 0x1p20;

}  // namespace

Arena::Arena(std::initializer_list<const ExecutionPlan*> plans, std::size_t limit_bytes)
    : Arena(std::vector<const ExecutionPlan*>(plans), limit_bytes) {}

Arena::Arena(const std::vector<const ExecutionPlan*>& plans, std::size_t limit_bytes) {
    std::array<std::size_t, region_count> sizes{};
    for (const ExecutionPlan* plan : plans) {
        for (std::size_t r = 0; r < region_count; ++r) {
            sizes[r] = std::max(sizes[r], static_cast<std::size_t>(plan->memory.region_bytes[r]));
        }
    }
    const std::size_t need = sizes[0] + sizes[1] + sizes[2];
    const std::size_t limit = limit_bytes > 0 ? limit_bytes : available_memory();
    if (need > limit) {
        throw CapacityError(
            fmt::format("the plan needs {:.1f} MiB (parameters {:.1f}, gradients, moments and caches {:.1f}, "
                        "activations {:.1f}), {} {:.1f} MiB; a smaller train.batch_size or "
                        "train.sequence_length needs less",
                        static_cast<double>(need) / mebibyte, static_cast<double>(sizes[0]) / mebibyte,
                        static_cast<double>(sizes[1]) / mebibyte, static_cast<double>(sizes[2]) / mebibyte,
                        limit_bytes > 0 ? "the configured limit is" : "this process may take",
                        static_cast<double>(limit) / mebibyte));
    }
    for (std::size_t r = 0; r < region_count; ++r) buffers_[r] = Buffer(sizes[r]);
}

void Arena::touch(ThreadPool& pool) {
    constexpr std::size_t page = 4096;
    for (const Buffer& buffer : buffers_) {
        const auto pages = static_cast<std::int64_t>(ceil_div(buffer.size(), page));
        auto touch_pages = [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = begin; p < end; ++p) {
                volatile std::byte* first = buffer.data() + p * static_cast<std::int64_t>(page);
                *first = *first;
            }
        };
        pool.run([&] { pool.parallel(pages, TileWork(touch_pages)); });
    }
}

}  // namespace causeway
