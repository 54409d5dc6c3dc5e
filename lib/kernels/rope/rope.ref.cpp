#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void rotate(const RopeArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    const std::int64_t half = args.head_dim / 2;
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const std::int64_t past = args.past == nullptr ? 0 : args.past[r / args.seq_len];
        const T* cos = args.table + (past + r % args.seq_len) * args.head_dim;
        const T* sin = cos + half;
        const T* x = args.x + r * args.width;
        T* y = args.y + r * args.width;
        for (std::int64_t h = 0; h < args.heads; ++h) {
            for (std::int64_t i = 0; i < half; ++i) {
                const std::int64_t first = h * args.head_dim + (args.interleaved ? 2 * i : i);
                const std::int64_t second = first + (args.interleaved ? 1 : half);
                const T a = x[first], b = x[second], s = args.inverse ? -sin[i] : sin[i];
                y[first] = a * cos[i] - b * s;
                y[second] = b * cos[i] + a * s;
            }
        }
        for (std::int64_t c = args.heads * args.head_dim; c < args.width; ++c) y[c] = x[c];
    }
}

}  // namespace

template <class T>
void add_rope(KernelTable<T>& table) {
    table.rope.rotate = rotate<T>;
}
template void add_rope(KernelTable<float>& table);
template void add_rope(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
