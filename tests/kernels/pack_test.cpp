#include <cstring>
#include <utility>

#include "base/buffer.hpp"
#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

TEST_CASE("a packed copy that is written past the caches is the other one, bit for bit") {
    for_each_isa([](const KernelTable<float>& table) {
        for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {31, 17}, {32, 16}, {97, 67}}) {
            const Guarded<float> b = random_values<float>(n * k, 1);
            const auto bytes = static_cast<std::size_t>(table.gemm.packed_elements(n, k)) * sizeof(float);
            const Buffer plain(bytes), streamed(bytes);
            const std::int64_t panels = table.gemm.panels(n);
            table.gemm.pack_nt(b.data(), k, n, k, reinterpret_cast<float*>(plain.data()), 0, panels);
            table.gemm.pack_nt_streaming(b.data(), k, n, k, reinterpret_cast<float*>(streamed.data()), 0, panels);
            CHECK(std::memcmp(plain.data(), streamed.data(), bytes) == 0);
        }
    });
}
