#include "base/buffer.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    // A large buffer is rounded to whole huge pages and cut so that it starts on one.
    const bool large = bytes >= huge_page;
    const std::size_t unit = large ? huge_page : page;
    mapped_ = round_up(bytes, unit);
    const std::size_t slack = large ? huge_page : 0;
    void* raw = mmap(nullptr, mapped_ + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) {
        throw CapacityError(fmt::format("cannot reserve {:.1f} MiB of memory: {}", static_cast<double>(bytes) / 0x1p20,
                                        std::strerror(errno)));
    }
    auto* start = static_cast<std::byte*>(raw);
    if (large) {
        const std::size_t skip = (huge_page - reinterpret_cast<std::size_t>(start) % huge_page) % huge_page;
        if (skip > 0) munmap(start, skip);
        if (slack > skip) munmap(start + skip + mapped_, slack - skip);
        start += skip;
        madvise(start, mapped_, MADV_HUGEPAGE);
    }
    data_ = start;
}

Buffer::~Buffer() {
    if (data_ != nullptr) munmap(data_, mapped_);
}

}  // namespace causeway
