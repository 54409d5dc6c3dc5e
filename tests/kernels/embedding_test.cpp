#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

constexpr std::int64_t vocab = 11;

/// Tokens of a small table, so that they repeat.
std::vector<std::int32_t> some_tokens(std::int64_t rows) {
    RandomStream stream(4, 2);
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows));
    for (auto& token : tokens) token = static_cast<std::int32_t>(stream.next_below(vocab));
    return tokens;
}

}  // namespace

TEST_CASE("Embedding looks rows up and adds gradients in the order of the rows") {
    constexpr std::int64_t rows = 29;
    const auto tokens = some_tokens(rows);
    for (const std::int64_t dim : awkward_lengths()) {
        CAPTURE(dim);
        const auto table = random_values<float>(vocab * dim, 1);
        const auto dy = random_values<float>(rows * dim, 2);
        const auto before = random_values<float>(vocab * dim, 3);
        Guarded<float> expected(rows * dim), expected_gradient = before;
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t token = tokens[static_cast<std::size_t>(r)];
            for (std::int64_t c = 0; c < dim; ++c) {
                expected[r * dim + c] = table[token * dim + c];
                expected_gradient[token * dim + c] += dy[r * dim + c];
            }
        }
        for_each_isa([&](const KernelTable<float>& kernels) {
            Guarded<float> y(rows * dim), gradient = before, pieces = before;
            kernels.embedding.forward(tokens.data(), table.data(), y.data(), dim, 10, rows);
            kernels.embedding.forward(tokens.data(), table.data(), y.data(), dim, 0, 10);
            CHECK(y.same_bits(expected));
            kernels.embedding.backward(tokens.data(), dy.data(), gradient.data(), rows, dim, 0, dim);
            CHECK(gradient.same_bits(expected_gradient));
            for (std::int64_t begin = 0, n = 1; begin < dim; begin += n, ++n) {
                kernels.embedding.backward(tokens.data(), dy.data(), pieces.data(), rows, dim, begin,
                                           std::min(dim, begin + n));
            }
            CHECK(pieces.same_bits(expected_gradient));
            CHECK((y.margins_intact() && gradient.margins_intact() && pieces.margins_intact()));
        });
    }
}

TEST_CASE("Positions are added by place in the sequence and collect their gradients over the batch") {
    constexpr std::int64_t batch = 3, seq_len = 5, first_position = 2;
    constexpr std::int64_t rows = batch * seq_len;
    for (const std::int64_t dim : awkward_lengths()) {
        CAPTURE(dim);
        const auto x = random_values<float>(rows * dim, 1);
        const auto table = random_values<float>((first_position + seq_len) * dim, 2);
        const auto before = random_values<float>(seq_len * dim, 3);
        Guarded<float> expected(rows * dim), sums(seq_len * dim), added(seq_len * dim);
        for (std::int64_t i = 0; i < rows * dim; ++i) {
            const std::int64_t t = i / dim % seq_len;
            expected[i] = x[i] + table[(first_position + t) * dim + i % dim];
            sums[t * dim + i % dim] += x[i];
        }
        for (std::int64_t i = 0; i < seq_len * dim; ++i) added[i] = before[i] + sums[i];
        for_each_isa([&](const KernelTable<float>& kernels) {
            Guarded<float> y = x, gradient = before, accumulated = before;
            kernels.embedding.positions_forward(y.data(), table.data(), y.data(), seq_len, dim, first_position, 7,
                                                rows);
            kernels.embedding.positions_forward(y.data(), table.data(), y.data(), seq_len, dim, first_position, 0, 7);
            CHECK(y.same_bits(expected));
            for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{2, seq_len}, {0, 2}}) {
                kernels.embedding.positions_backward(x.data(), gradient.data(), batch, seq_len, dim, false, begin, end);
                kernels.embedding.positions_backward(x.data(), accumulated.data(), batch, seq_len, dim, true, begin,
                                                     end);
            }
            CHECK(gradient.same_bits(sums));
            CHECK(accumulated.same_bits(added));
            CHECK((y.margins_intact() && gradient.margins_intact() && accumulated.margins_intact()));
        });
    }
}
