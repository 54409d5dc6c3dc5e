#include <memory>

#include "base/format.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {

/// The loops that %stream compares with, at the size of an L2 and well beyond every cache: n elements an array.
void register_stream() {
    struct Kind {
        const char* name;
        Stream stream;
    };
    for (const auto [name, stream] : {Kind{"read", Stream::read}, {"copy", Stream::copy}, {"adamw", Stream::adamw}}) {
        for (const auto& [size, n] : {std::pair<const char*, std::int64_t>{"32K", 1 << 15}, {"20M", 20'000'000}}) {
            const double passes = stream == Stream::adamw ? 7 : stream == Stream::copy ? 2 : 1;
            add_case(fmt::format("stream_{}/f32/{}", name, size), {.bytes = passes * 4 * static_cast<double>(n)},
                     [stream = stream, n = n] {
                         auto arrays = std::make_shared<StreamArrays>(stream, n);
                         return [arrays] { arrays->run(); };
                     });
        }
    }
}

}  // namespace causeway::bench
