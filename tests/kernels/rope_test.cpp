#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

/// Rows of some heads, of which the first are rotated, and a table of random angles.
template <class T>
struct Problem {
    Problem(std::int64_t batch_size, std::int64_t length, std::int64_t rotated, std::int64_t others, std::int64_t dim)
        : batch(batch_size),
          seq_len(length),
          heads(rotated),
          head_dim(dim),
          width((rotated + others) * dim),
          table(positions * dim),
          x(random_values<T>(batch * length * width, 1)),
          y(batch * length * width, T{7}) {
        for (std::int64_t p = 0; p < positions; ++p) {
            for (std::int64_t i = 0; i < dim / 2; ++i) {
                const double angle = 0.1 * static_cast<double>(p * dim + i);
                table[p * dim + i] = static_cast<T>(static_cast<float>(std::cos(angle)));
                table[p * dim + dim / 2 + i] = static_cast<T>(static_cast<float>(std::sin(angle)));
            }
        }
    }

    RopeArgs<T> args(bool interleaved, bool inverse) {
        return {x.data(), y.data(), table.data(), nullptr, seq_len, width, heads, head_dim, interleaved, inverse};
    }
    std::int64_t rows() const { return batch * seq_len; }

    static constexpr std::int64_t positions = 40;
    std::int64_t batch, seq_len, heads, head_dim, width;
    Guarded<T> table, x, y;
};

constexpr std::int64_t head_dims[] = {2, 4, 6, 10, 16, 30, 32, 34, 64, 96, 128, 130};

}  // namespace

TEST_CASE("B23: a unit vector turned by one position, half-split and interleaved") {
    for_each_isa([](const KernelTable<float>& table) {
        const double base = 1e4;
        const double angle[2] = {1, 1 / std::sqrt(base)};
        const float angles[8] = {1,
                                 1,
                                 0,
                                 0,  // position 0
                                 static_cast<float>(std::cos(angle[0])),
                                 static_cast<float>(std::cos(angle[1])),
                                 static_cast<float>(std::sin(angle[0])),
                                 static_cast<float>(std::sin(angle[1]))};
        const float x[8] = {0, 1, 0, 0, 0, 1, 0, 0};
        const double expected[2][4] = {{0, .99995, 0, .00999983}, {-.841471, .540302, 0, 0}};
        for (const bool interleaved : {false, true}) {
            float y[8] = {};
            table.rope.rotate({x, y, angles, nullptr, 2, 4, 1, 4, interleaved, false}, 0, 2);
            for (int i = 0; i < 4; ++i) {
                CHECK(y[i] == x[i]);
                CHECK(std::abs(static_cast<double>(y[4 + i]) - expected[interleaved][i]) <= 1e-6);
            }
        }
    });
}

TEST_CASE("Rotation agrees with the reference in double") {
    for (const std::int64_t dim : head_dims) {
        for (const bool interleaved : {false, true}) {
            for (const bool inverse : {false, true}) {
                CAPTURE(dim, interleaved, inverse);
                Problem<double> expected(2, 5, 3, 2, dim);
                reference_table<double>().rope.rotate(expected.args(interleaved, inverse), 0, expected.rows());
                for_each_isa([&](const KernelTable<float>& table) {
                    Problem<float> actual(2, 5, 3, 2, dim);
                    table.rope.rotate(actual.args(interleaved, inverse), 0, actual.rows());
                    CHECK(worst_error(actual.y, expected.y, 2e-7, 2e-7) <= 1);
                    CHECK(actual.y.margins_intact());
                });
            }
        }
    }
}

TEST_CASE("Turning back gives what was turned, in place and row by row, and other heads stay") {
    for (const std::int64_t dim : head_dims) {
        for (const bool interleaved : {false, true}) {
            CAPTURE(dim, interleaved);
            for_each_isa([&](const KernelTable<float>& table) {
                Problem<float> problem(2, 7, 2, 1, dim);
                table.rope.rotate(problem.args(interleaved, false), 0, problem.rows());
                Guarded<float> turned = problem.x;
                auto args = problem.args(interleaved, false);
                args.x = turned.data();
                args.y = turned.data();
                for (std::int64_t r = problem.rows() - 1; r >= 0; --r) table.rope.rotate(args, r, r + 1);
                CHECK(turned.same_bits(problem.y));
                args.inverse = true;
                table.rope.rotate(args, 0, problem.rows());
                double worst = 0;
                for (std::int64_t i = 0; i < turned.size(); ++i) {
                    worst = std::max(worst, std::abs(static_cast<double>(turned[i]) - problem.x[i]));
                }
                CHECK(worst <= 1e-6);
                CHECK(turned.margins_intact());
            });
        }
    }
}

TEST_CASE("Rows that continue a sequence turn by their own positions") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> whole(1, 20, 2, 1, 10);
        table.rope.rotate(whole.args(false, false), 0, 20);
        const std::int32_t past[2] = {13, 4};
        Problem<float> parts(2, 3, 2, 1, 10);
        for (std::int64_t b = 0; b < 2; ++b) {
            std::copy_n(whole.x.data() + past[b] * whole.width, 3 * whole.width, parts.x.data() + b * 3 * whole.width);
        }
        auto args = parts.args(false, false);
        args.past = past;
        table.rope.rotate(args, 0, 6);
        for (std::int64_t b = 0; b < 2; ++b) {
            for (std::int64_t i = 0; i < 3 * whole.width; ++i) {
                CHECK(parts.y[b * 3 * whole.width + i] == whole.y[past[b] * whole.width + i]);
            }
        }
    });
}
