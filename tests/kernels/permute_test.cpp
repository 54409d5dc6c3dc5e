#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

/// Any order of the pairs, with its inverse.
struct Order {
    Order(std::int64_t tokens, std::int64_t choices) {
        const std::int64_t pairs = tokens * choices;
        order.resize(static_cast<std::size_t>(pairs));
        slots.resize(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
        RandomStream random(9, 1);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next_below(i)]);
        for (std::size_t s = 0; s < order.size(); ++s)
            slots[static_cast<std::size_t>(order[s])] = static_cast<std::int32_t>(s);
    }
    Permutation view(std::int64_t choices, std::int64_t cols) const {
        return {order.data(), slots.data(), choices, cols};
    }
    std::vector<std::int32_t> order, slots;
};

}  // namespace

TEST_CASE("Rows go to their experts and back as in the reference in double, in place and in pieces") {
    constexpr std::int64_t tokens = 4;
    const auto& reference = reference_table<double>().permute;
    for (const std::int64_t cols : awkward_lengths()) {
        for (const std::int64_t choices : {1, 2, 3}) {
            CAPTURE(cols, choices);
            const std::int64_t pairs = tokens * choices;
            const Order order(tokens, choices);
            const Permutation permutation = order.view(choices, cols);
            const auto x = random_values<float>(tokens * cols, 1), dy = random_values<float>(tokens * cols, 2),
                       weights = random_values<float>(pairs, 3);
            const auto x_double = random_values<double>(tokens * cols, 1),
                       dy_double = random_values<double>(tokens * cols, 2),
                       weights_double = random_values<double>(pairs, 3);
            Guarded<double> rows_expected(pairs * cols), y_expected(tokens * cols), sum_expected(tokens * cols),
                drows_expected(pairs * cols), dweights_expected(pairs);
            reference.gather(permutation, x_double.data(), rows_expected.data(), 0, pairs);
            reference.combine(permutation, rows_expected.data(), weights_double.data(), y_expected.data(), 0, tokens);
            reference.combine(permutation, rows_expected.data(), nullptr, sum_expected.data(), 0, tokens);
            reference.combine_backward(permutation, rows_expected.data(), weights_double.data(), dy_double.data(),
                                       drows_expected.data(), dweights_expected.data(), 0, pairs);
            for_each_isa([&](const KernelTable<float>& table) {
                Guarded<float> rows(pairs * cols), y(tokens * cols), sum(tokens * cols), drows(pairs * cols),
                    dweights(pairs), dweights_pieces(pairs);
                table.permute.gather(permutation, x.data(), rows.data(), 0, pairs);
                table.permute.combine(permutation, rows.data(), weights.data(), y.data(), 0, tokens);
                table.permute.combine(permutation, rows.data(), nullptr, sum.data(), 0, tokens);
                table.permute.combine_backward(permutation, rows.data(), weights.data(), dy.data(), drows.data(),
                                               dweights.data(), 0, pairs);
                CHECK(worst_error(rows, rows_expected, 1e-7, 0) <= 1);
                CHECK(worst_error(y, y_expected, 1e-6, 1e-6) <= 1);
                CHECK(worst_error(sum, sum_expected, 1e-6, 1e-6) <= 1);
                CHECK(worst_error(drows, drows_expected, 1e-6, 1e-6) <= 1);
                CHECK(worst_error(dweights, dweights_expected, 2e-5, 1e-5) <= 1);
                Guarded<float> in_place = rows, y_pieces(tokens * cols);
                for (std::int64_t t = tokens - 1; t >= 0; --t) {
                    table.permute.combine(permutation, rows.data(), weights.data(), y_pieces.data(), t, t + 1);
                }
                for (std::int64_t s = pairs - 1; s >= 0; --s) {
                    table.permute.combine_backward(permutation, in_place.data(), weights.data(), dy.data(),
                                                   in_place.data(), dweights_pieces.data(), s, s + 1);
                }
                CHECK(y_pieces.same_bits(y));
                CHECK(in_place.same_bits(drows));
                CHECK(dweights_pieces.same_bits(dweights));
                CHECK((rows.margins_intact() && y.margins_intact() && in_place.margins_intact() &&
                       dweights.margins_intact()));
            });
        }
    }
}
