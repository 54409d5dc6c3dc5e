#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

/// One LayerNorm, forward and backward, in float or double: the same numbers in both.
template <class T>
struct Problem {
    Problem(std::int64_t row_count, std::int64_t col_count, bool bias_too, bool residual_too, std::int64_t rows_a_chunk)
        : rows(row_count),
          cols(col_count),
          chunk_rows(rows_a_chunk),
          chunks((row_count + rows_a_chunk - 1) / rows_a_chunk),
          with_bias(bias_too),
          with_residual(residual_too),
          x(random_values<T>(rows * cols, 1, -2, 3)),
          weight(random_values<T>(cols, 2, 0.5, 1.5)),
          bias(random_values<T>(cols, 3)),
          dy(random_values<T>(rows * cols, 4)),
          dresidual(random_values<T>(rows * cols, 5)),
          y(rows * cols),
          mean(rows),
          rstd(rows),
          dx(rows * cols),
          dweight(chunks * cols, T{9}),
          dbias(chunks * cols, with_bias ? T{9} : T{0}) {}

    LayerNormForwardArgs<T> forward_args() {
        LayerNormForwardArgs<T> args;
        args.x = x.data();
        args.weight = weight.data();
        args.bias = with_bias ? bias.data() : nullptr;
        args.y = y.data();
        args.mean = mean.data();
        args.rstd = rstd.data();
        args.cols = cols;
        return args;
    }

    LayerNormBackwardArgs<T> backward_args() {
        LayerNormBackwardArgs<T> args;
        args.dy = dy.data();
        args.x = x.data();
        args.weight = weight.data();
        args.mean = mean.data();
        args.rstd = rstd.data();
        args.dresidual = with_residual ? dresidual.data() : nullptr;
        args.dx = dx.data();
        args.dweight_partial = dweight.data();
        args.dbias_partial = with_bias ? dbias.data() : nullptr;
        args.rows = rows;
        args.cols = cols;
        args.chunk_rows = chunk_rows;
        return args;
    }

    void run(const NormKernels<T>& norm) {
        norm.layernorm_forward(forward_args(), 0, rows);
        norm.layernorm_backward(backward_args(), 0, chunks);
    }

    bool margins_intact() const {
        return y.margins_intact() && mean.margins_intact() && rstd.margins_intact() && dx.margins_intact() &&
               dweight.margins_intact() && dbias.margins_intact();
    }

    std::int64_t rows, cols, chunk_rows, chunks;
    bool with_bias, with_residual;
    Guarded<T> x, weight, bias, dy, dresidual, y, mean, rstd, dx, dweight, dbias;
};

/// Sum of y * dy, the function whose gradients the backward gives.
double weighted_output(Problem<double>& problem) {
    reference_table<double>().norm.layernorm_forward(problem.forward_args(), 0, problem.rows);
    double sum = 0;
    for (std::int64_t i = 0; i < problem.y.size(); ++i) sum += problem.y[i] * problem.dy[i];
    return sum;
}

/// Central difference of weighted_output by one of its numbers.
double difference(Problem<double>& problem, double& number) {
    return central_difference([&] { return weighted_output(problem); }, number);
}

}  // namespace

TEST_CASE("LayerNorm agrees with the reference in double") {
    for (const std::int64_t cols : awkward_lengths()) {
        for (const std::int64_t rows : {1, 3, 4, 9}) {
            for (const bool with : {false, true}) {
                CAPTURE(rows, cols, with);
                Problem<double> expected(rows, cols, with, with, 6);
                expected.run(reference_table<double>().norm);
                for_each_isa([&](const KernelTable<float>& table) {
                    Problem<float> actual(rows, cols, with, with, 6);
                    actual.run(table.norm);
                    // xhat is good to about 1e-6 of its largest value, sqrt(cols); gradients are sums of up to 6 rows.
                    // Two columns are the hard case: xhat = +-1 whatever x, so the gradient is all cancellation.
                    const double tolerance = cols == 2 ? 2e-4 : 1e-5;
                    CHECK(worst_error(actual.mean, expected.mean, 4e-6, 1e-6) <= 1);  // the plain loop's sum of 1000
                    CHECK(worst_error(actual.rstd, expected.rstd, 0, 2e-5) <= 1);
                    CHECK(worst_error(actual.y, expected.y, tolerance, 1e-5) <= 1);
                    CHECK(worst_error(actual.dx, expected.dx, 2 * tolerance, 2e-5) <= 1);
                    CHECK(worst_error(actual.dweight, expected.dweight, tolerance, 1e-5) <= 1);
                    CHECK(worst_error(actual.dbias, expected.dbias, 1e-6, 1e-6) <= 1);
                    CHECK(actual.margins_intact());
                });
            }
        }
    }
}

TEST_CASE("The reference LayerNorm's gradients agree with central differences") {
    Problem<double> problem(5, 7, true, false, 2);
    problem.run(reference_table<double>().norm);
    const Guarded<double> dx = problem.dx;
    for (std::int64_t i = 0; i < dx.size(); ++i) CHECK(std::abs(difference(problem, problem.x[i]) - dx[i]) <= 1e-7);
    for (std::int64_t c = 0; c < problem.cols; ++c) {
        double dweight = 0, dbias = 0;
        for (std::int64_t chunk = 0; chunk < problem.chunks; ++chunk) {
            dweight += problem.dweight[chunk * problem.cols + c];
            dbias += problem.dbias[chunk * problem.cols + c];
        }
        CHECK(std::abs(difference(problem, problem.weight[c]) - dweight) <= 1e-7);
        CHECK(std::abs(difference(problem, problem.bias[c]) - dbias) <= 1e-7);
    }
}

TEST_CASE("LayerNorm in place and in any split of rows and chunks gives the same bits") {
    for (const std::int64_t cols : {5, 33, 97}) {
        for_each_isa([&](const KernelTable<float>& table) {
            Problem<float> whole(23, cols, true, true, 5), pieces(23, cols, true, true, 5);
            whole.run(table.norm);
            Guarded<float> in_place = pieces.x;
            auto forward = pieces.forward_args();
            forward.x = in_place.data();
            forward.y = in_place.data();
            for (std::int64_t row = 22; row >= 0; --row) table.norm.layernorm_forward(forward, row, row + 1);
            CHECK(in_place.same_bits(whole.y));

            auto backward = pieces.backward_args();
            Guarded<float> dx = pieces.dy;  // dx over dy
            backward.dy = dx.data();
            backward.dx = dx.data();
            for (std::int64_t chunk = pieces.chunks - 1; chunk >= 0; --chunk) {
                table.norm.layernorm_backward(backward, chunk, chunk + 1);
            }
            CHECK(dx.same_bits(whole.dx));
            CHECK(pieces.dweight.same_bits(whole.dweight));
            CHECK(pieces.dbias.same_bits(whole.dbias));
            CHECK((dx.margins_intact() && in_place.margins_intact()));

            auto over_residual = pieces.backward_args();
            Guarded<float> dx_residual = pieces.dresidual;  // dx over dresidual
            over_residual.dresidual = dx_residual.data();
            over_residual.dx = dx_residual.data();
            table.norm.layernorm_backward(over_residual, 0, pieces.chunks);
            CHECK(dx_residual.same_bits(whole.dx));
        });
    }
}

TEST_CASE("LayerNorm without statistics gives the same output") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> training(4, 40, true, false, 4), inference(4, 40, true, false, 4);
        training.run(table.norm);
        auto args = inference.forward_args();
        args.mean = nullptr;
        args.rstd = nullptr;
        table.norm.layernorm_forward(args, 0, 4);
        CHECK(inference.y.same_bits(training.y));
    });
}

TEST_CASE("B16: LayerNorm of numbers near 40000") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> problem(1, 4, false, false, 1);
        const double expected[4] = {-1.34164, -0.447212, 0.447212, 1.34164};
        for (std::int64_t c = 0; c < 4; ++c) {
            problem.x[c] = static_cast<float>(40000 + c);
            problem.weight[c] = 1;
        }
        problem.run(table.norm);
        for (std::int64_t c = 0; c < 4; ++c) CHECK(std::abs(static_cast<double>(problem.y[c]) - expected[c]) <= 1e-3);
    });
}

TEST_CASE("B17: LayerNorm of a constant row is exactly the bias, its gradients finite") {
    for_each_isa([](const KernelTable<float>& table) {
        for (const float value : {0.0f, 0.1f, -7.3f, 12345.67f, 1e-30f}) {
            for (const std::int64_t cols : {1, 17, 768}) {
                CAPTURE(value, cols);
                Problem<float> problem(2, cols, true, false, 2);
                problem.x = Guarded<float>(2 * cols, value);
                problem.run(table.norm);
                bool exact = true, finite = true;
                for (std::int64_t i = 0; i < 2 * cols; ++i) {
                    exact = exact && problem.y[i] == problem.bias[i % cols];
                    finite = finite && std::isfinite(problem.dx[i]);
                }
                for (std::int64_t c = 0; c < cols; ++c) {
                    finite = finite && std::isfinite(problem.dweight[c]) && std::isfinite(problem.dbias[c]);
                }
                CHECK(exact);
                CHECK(finite);
            }
        }
    });
}
