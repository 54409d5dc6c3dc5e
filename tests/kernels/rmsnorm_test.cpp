#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

/// One RMSNorm, forward and backward, in float or double: the same numbers in both.
template <class T>
struct Problem {
    Problem(std::int64_t row_count, std::int64_t col_count, bool residual_too, std::int64_t rows_a_chunk)
        : rows(row_count),
          cols(col_count),
          chunk_rows(rows_a_chunk),
          chunks((row_count + rows_a_chunk - 1) / rows_a_chunk),
          with_residual(residual_too),
          x(random_values<T>(rows * cols, 1, -2, 3)),
          weight(random_values<T>(cols, 2, 0.5, 1.5)),
          dy(random_values<T>(rows * cols, 3)),
          dresidual(random_values<T>(rows * cols, 4)),
          y(rows * cols),
          rstd(rows),
          dx(rows * cols),
          dweight(chunks * cols, T{9}) {}

    RmsNormForwardArgs<T> forward_args() { return {x.data(), weight.data(), y.data(), rstd.data(), cols, 1e-6}; }
    RmsNormBackwardArgs<T> backward_args() {
        return {dy.data(), x.data(),       weight.data(), rstd.data(), with_residual ? dresidual.data() : nullptr,
                dx.data(), dweight.data(), rows,          cols,        chunk_rows};
    }
    void run(const RmsNormKernels<T>& norm) {
        norm.forward(forward_args(), 0, rows);
        norm.backward(backward_args(), 0, chunks);
    }
    bool margins_intact() const {
        return y.margins_intact() && rstd.margins_intact() && dx.margins_intact() && dweight.margins_intact();
    }

    std::int64_t rows, cols, chunk_rows, chunks;
    bool with_residual;
    Guarded<T> x, weight, dy, dresidual, y, rstd, dx, dweight;
};

/// The same for the heads of Q and K in a fused qkv.
template <class T>
struct QkProblem {
    QkProblem(const QkvRow& its_row, std::int64_t row_count, std::int64_t rows_a_chunk)
        : row(its_row),
          rows(row_count),
          chunk_rows(rows_a_chunk),
          chunks((row_count + rows_a_chunk - 1) / rows_a_chunk),
          qkv(random_values<T>(rows * row.width(), 1, -2, 3)),
          q_weight(random_values<T>(row.head_dim, 2, 0.5, 1.5)),
          k_weight(random_values<T>(row.head_dim, 3, 0.5, 1.5)),
          dy(random_values<T>(rows * row.width(), 4)),
          y(rows * row.width()),
          rstd(rows * row.normed_heads()),
          dqkv(rows * row.width()),
          dweight(chunks * 2 * row.head_dim, T{9}) {}

    QkNormForwardArgs<T> forward_args() {
        return {qkv.data(), q_weight.data(), k_weight.data(), y.data(), rstd.data(), row, 1e-6};
    }
    QkNormBackwardArgs<T> backward_args() {
        return {dy.data(), qkv.data(), q_weight.data(), k_weight.data(), rstd.data(), dqkv.data(), dweight.data(),
                row,       rows,       chunk_rows};
    }
    void run(const RmsNormKernels<T>& norm) {
        norm.qk_forward(forward_args(), 0, rows);
        norm.qk_backward(backward_args(), 0, chunks);
    }
    bool margins_intact() const {
        return y.margins_intact() && rstd.margins_intact() && dqkv.margins_intact() && dweight.margins_intact();
    }

    QkvRow row;
    std::int64_t rows, chunk_rows, chunks;
    Guarded<T> qkv, q_weight, k_weight, dy, y, rstd, dqkv, dweight;
};

const QkvRow qkv_rows[] = {{4, 2, 16}, {1, 1, 5}, {6, 3, 17}, {8, 1, 96}, {5, 5, 1}, {3, 3, 33}};

/// Sum of y * dy, the function whose gradients the backward gives.
double weighted_output(QkProblem<double>& problem) {
    reference_table<double>().rmsnorm.qk_forward(problem.forward_args(), 0, problem.rows);
    double sum = 0;
    for (std::int64_t i = 0; i < problem.y.size(); ++i) sum += problem.y[i] * problem.dy[i];
    return sum;
}

/// Central difference of weighted_output by one of its numbers.
double difference(QkProblem<double>& problem, double& number) {
    return central_difference([&] { return weighted_output(problem); }, number);
}

}  // namespace

TEST_CASE("RMSNorm agrees with the reference in double") {
    for (const std::int64_t cols : awkward_lengths()) {
        for (const std::int64_t rows : {1, 3, 4, 9}) {
            for (const bool residual : {false, true}) {
                CAPTURE(rows, cols, residual);
                Problem<double> expected(rows, cols, residual, 6);
                expected.run(reference_table<double>().rmsnorm);
                for_each_isa([&](const KernelTable<float>& table) {
                    Problem<float> actual(rows, cols, residual, 6);
                    actual.run(table.rmsnorm);
                    // One column is the hard case: y = +-weight whatever x, so the gradient is all cancellation.
                    const double tolerance = cols == 1 ? 2e-4 : 1e-5;
                    CHECK(worst_error(actual.rstd, expected.rstd, 0, 1e-5) <= 1);
                    CHECK(worst_error(actual.y, expected.y, 1e-6, 1e-5) <= 1);
                    CHECK(worst_error(actual.dx, expected.dx, tolerance, 1e-5) <= 1);
                    CHECK(worst_error(actual.dweight, expected.dweight, 1e-5, 1e-5) <= 1);
                    CHECK(actual.margins_intact());
                });
            }
        }
    }
}

TEST_CASE("RMSNorm has the values of its formula") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> problem(1, 2, false, 1);
        problem.x[0] = 3;
        problem.x[1] = 4;
        problem.weight[0] = 1;
        problem.weight[1] = 2;
        problem.run(table.rmsnorm);
        CHECK(problem.rstd[0] == Approx(1 / std::sqrt(12.5)).epsilon(1e-6));
        CHECK(problem.y[0] == Approx(3 / std::sqrt(12.5)).epsilon(1e-6));
        CHECK(problem.y[1] == Approx(8 / std::sqrt(12.5)).epsilon(1e-6));
    });
}

TEST_CASE("RMSNorm of a row of zeros is 0, its gradients finite") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> problem(2, 40, false, 2);
        problem.x = Guarded<float>(80, 0.0f);
        problem.run(table.rmsnorm);
        for (std::int64_t i = 0; i < 80; ++i) {
            CHECK(problem.y[i] == 0.0f);
            CHECK(std::isfinite(problem.dx[i]));
        }
    });
}

TEST_CASE("RMSNorm in place and in any split of rows and chunks gives the same bits") {
    for (const std::int64_t cols : {5, 33, 97}) {
        for_each_isa([&](const KernelTable<float>& table) {
            Problem<float> whole(23, cols, true, 5), pieces(23, cols, true, 5);
            whole.run(table.rmsnorm);
            Guarded<float> in_place = pieces.x;
            auto forward = pieces.forward_args();
            forward.x = in_place.data();
            forward.y = in_place.data();
            for (std::int64_t row = 22; row >= 0; --row) table.rmsnorm.forward(forward, row, row + 1);
            CHECK(in_place.same_bits(whole.y));

            auto backward = pieces.backward_args();
            Guarded<float> dx = pieces.dy;  // dx over dy
            backward.dy = dx.data();
            backward.dx = dx.data();
            for (std::int64_t chunk = pieces.chunks - 1; chunk >= 0; --chunk) {
                table.rmsnorm.backward(backward, chunk, chunk + 1);
            }
            CHECK(dx.same_bits(whole.dx));
            CHECK(pieces.dweight.same_bits(whole.dweight));

            auto over_residual = pieces.backward_args();
            Guarded<float> dx_residual = pieces.dresidual;  // dx over dresidual
            over_residual.dresidual = dx_residual.data();
            over_residual.dx = dx_residual.data();
            table.rmsnorm.backward(over_residual, 0, pieces.chunks);
            CHECK(dx_residual.same_bits(whole.dx));
            CHECK((dx.margins_intact() && in_place.margins_intact() && dx_residual.margins_intact()));
        });
    }
}

TEST_CASE("QK-norm agrees with the reference in double and leaves V alone") {
    for (const QkvRow& row : qkv_rows) {
        for (const std::int64_t rows : {1, 9}) {
            CAPTURE(row.heads, row.kv_heads, row.head_dim, rows);
            QkProblem<double> expected(row, rows, 4);
            expected.run(reference_table<double>().rmsnorm);
            for_each_isa([&](const KernelTable<float>& table) {
                QkProblem<float> actual(row, rows, 4);
                actual.run(table.rmsnorm);
                const double tolerance = row.head_dim == 1 ? 1e-3 : 1e-5;
                CHECK(worst_error(actual.rstd, expected.rstd, 0, 1e-5) <= 1);
                CHECK(worst_error(actual.y, expected.y, 1e-6, 1e-5) <= 1);
                CHECK(worst_error(actual.dqkv, expected.dqkv, tolerance, 1e-5) <= 1);
                CHECK(worst_error(actual.dweight, expected.dweight, 3e-5, 1e-5) <= 1);
                CHECK(actual.margins_intact());
                for (std::int64_t r = 0; r < rows; ++r) {
                    for (std::int64_t c = row.normed_heads() * row.head_dim; c < row.width(); ++c) {
                        CHECK(actual.y[r * row.width() + c] == actual.qkv[r * row.width() + c]);
                        CHECK(actual.dqkv[r * row.width() + c] == actual.dy[r * row.width() + c]);
                    }
                }
            });
        }
    }
}

TEST_CASE("The reference QK-norm's gradients agree with central differences") {
    QkProblem<double> problem({3, 1, 4}, 5, 2);
    problem.run(reference_table<double>().rmsnorm);
    const Guarded<double> dqkv = problem.dqkv;
    for (std::int64_t i = 0; i < dqkv.size(); ++i) {
        CHECK(std::abs(difference(problem, problem.qkv[i]) - dqkv[i]) <= 1e-7);
    }
    for (std::int64_t c = 0; c < 4; ++c) {
        double dq = 0, dk = 0;
        for (std::int64_t chunk = 0; chunk < problem.chunks; ++chunk) {
            dq += problem.dweight[chunk * 8 + c];
            dk += problem.dweight[chunk * 8 + 4 + c];
        }
        CHECK(std::abs(difference(problem, problem.q_weight[c]) - dq) <= 1e-7);
        CHECK(std::abs(difference(problem, problem.k_weight[c]) - dk) <= 1e-7);
    }
}

TEST_CASE("QK-norm in place and in any split gives the same bits") {
    for (const QkvRow& row : qkv_rows) {
        for_each_isa([&](const KernelTable<float>& table) {
            QkProblem<float> whole(row, 11, 3), pieces(row, 11, 3);
            whole.run(table.rmsnorm);
            auto forward = pieces.forward_args();
            Guarded<float> y = pieces.qkv;
            forward.qkv = y.data();
            forward.y = y.data();
            for (std::int64_t r = 10; r >= 0; --r) table.rmsnorm.qk_forward(forward, r, r + 1);
            CHECK(y.same_bits(whole.y));

            auto backward = pieces.backward_args();
            Guarded<float> dqkv = pieces.dy;
            backward.dy = dqkv.data();
            backward.dqkv = dqkv.data();
            for (std::int64_t c = pieces.chunks - 1; c >= 0; --c) table.rmsnorm.qk_backward(backward, c, c + 1);
            CHECK(dqkv.same_bits(whole.dqkv));
            CHECK(pieces.dweight.same_bits(whole.dweight));
            CHECK((y.margins_intact() && dqkv.margins_intact()));
        });
    }
}
