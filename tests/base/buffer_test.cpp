#include "base/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("a buffer is zero-filled and aligned") {
    for (std::size_t bytes : {1u, 4095u, 4096u, 4097u, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 7u << 20}) {
        const Buffer buffer(bytes);
        CHECK(buffer.size() == bytes);
        const std::uintptr_t alignment = bytes >= (2u << 20) ? 2u << 20 : 4096;
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0);
        CHECK(std::all_of(buffer.data(), buffer.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
        buffer.data()[bytes - 1] = std::byte{1};
    }
}

TEST_CASE("an empty buffer holds nothing") {
    const Buffer none, zero(0);
    CHECK(none.data() == nullptr);
    CHECK(zero.data() == nullptr);
    CHECK(zero.size() == 0);
}

TEST_CASE("moving a buffer moves its memory") {
    Buffer first(100);
    std::byte* data = first.data();
    data[7] = std::byte{9};
    Buffer second(std::move(first));
    CHECK(second.data() == data);
    Buffer third(5000);
    third = std::move(second);
    CHECK(third.data() == data);
    CHECK(third.size() == 100);
    CHECK(third.data()[7] == std::byte{9});
}

TEST_CASE("a buffer the system cannot reserve is refused with its size") {
    CHECK_THROWS_MESSAGE(Buffer(std::size_t{1} << 60), CapacityError, "1099511627776.0 MiB");
}
