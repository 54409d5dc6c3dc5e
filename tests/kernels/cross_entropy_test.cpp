#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

/// Rows of logits with a gap between them, whose columns hold a mark that no kernel may change.
template <class T>
struct Problem {
    Problem(std::int64_t row_count, std::int64_t vocab_size, std::int64_t row_stride, double scale)
        : rows(row_count),
          vocab(vocab_size),
          ld(row_stride),
          logits(random_values<T>(rows * ld, 1, -scale, scale)),
          loss(rows) {
        RandomStream stream(2, 2);
        for (std::int64_t r = 0; r < rows; ++r) {
            const bool ignored = r % 3 == 1;
            const auto target = static_cast<std::int32_t>(stream.next_below(static_cast<std::uint64_t>(vocab)));
            targets.push_back(ignored ? ignore_index : target);
            for (std::int64_t c = vocab; c < ld; ++c) logits[r * ld + c] = mark;
        }
    }

    CrossEntropyArgs<T> args() {
        CrossEntropyArgs<T> args;
        args.logits = logits.data();
        args.ld = ld;
        args.vocab = vocab;
        args.targets = targets.data();
        args.loss = loss.data();
        return args;
    }

    bool marks_intact() const {
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = vocab; c < ld; ++c) {
                if (logits[r * ld + c] != mark) return false;
            }
        }
        return logits.margins_intact() && loss.margins_intact();
    }

    static constexpr T mark = T{77};
    std::int64_t rows, vocab, ld;
    Guarded<T> logits;
    std::vector<std::int32_t> targets;
    Guarded<double> loss;
};

std::vector<std::int64_t> vocabularies() {
    std::vector<std::int64_t> sizes = awkward_lengths();
    for (const std::int64_t more : {1023, 1024, 1025, 4099}) sizes.push_back(more);
    return sizes;
}

}  // namespace

TEST_CASE("Cross-entropy and its gradient agree with the reference in double") {
    for (const std::int64_t vocab : vocabularies()) {
        for (const double scale : {1.0, 30.0}) {
            CAPTURE(vocab, scale);
            const std::int64_t rows = 5, ld = vocab + 3;
            Problem<double> expected(rows, vocab, ld, scale);
            reference_table<double>().cross_entropy.forward_backward(expected.args(), 0, rows);
            for_each_isa([&](const KernelTable<float>& table) {
                Problem<float> forward(rows, vocab, ld, scale), whole(rows, vocab, ld, scale);
                Problem<float> pieces(rows, vocab, ld, scale);
                const Guarded<float> before = forward.logits;
                table.cross_entropy.forward(forward.args(), 0, rows);
                CHECK(forward.logits.same_bits(before));
                // Logits of 60 apart carry 4e-6 of rounding into exp; what is left of the sums is in double.
                CHECK(worst_error(forward.loss, expected.loss, 1e-6, 1e-6) <= 1);
                table.cross_entropy.forward_backward(whole.args(), 0, rows);
                CHECK(worst_error(whole.loss, expected.loss, 1e-6, 1e-6) <= 1);
                CHECK(worst_error(whole.logits, expected.logits, 1e-7, 5e-6) <= 1);
                CHECK((whole.marks_intact() && forward.marks_intact()));
                for (std::int64_t r = rows - 1; r >= 0; --r) {
                    table.cross_entropy.forward_backward(pieces.args(), r, r + 1);
                }
                CHECK(pieces.logits.same_bits(whole.logits));
                CHECK(pieces.loss.same_bits(whole.loss));
            });
        }
    }
}

TEST_CASE("The reference's cross-entropy gradient agrees with central differences") {
    const auto& reference = reference_table<double>().cross_entropy;
    const std::int64_t rows = 3, vocab = 7;
    Problem<double> gradient(rows, vocab, vocab, 2);
    reference.forward_backward(gradient.args(), 0, rows);
    for (std::int64_t i = 0; i < rows * vocab; ++i) {
        constexpr double h = 1e-5;
        double loss[2] = {};
        for (const int side : {0, 1}) {
            Problem<double> moved(rows, vocab, vocab, 2);
            moved.logits[i] += side == 0 ? -h : h;
            reference.forward(moved.args(), 0, rows);
            for (std::int64_t r = 0; r < rows; ++r) loss[side] += moved.loss[r];
        }
        CHECK(std::abs((loss[1] - loss[0]) / (2 * h) - gradient.logits[i]) <= 1e-8);
    }
}

TEST_CASE("B06: rows that are all ignored have loss 0 and gradient exactly 0") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> problem(4, 67, 70, 50);
        // Not even NaN or inf in an ignored row may come through.
        problem.logits[0] = std::numeric_limits<float>::quiet_NaN();
        problem.logits[70] = std::numeric_limits<float>::infinity();
        for (auto& target : problem.targets) target = ignore_index;
        table.cross_entropy.forward_backward(problem.args(), 0, 4);
        bool zero = true;
        for (std::int64_t r = 0; r < 4; ++r) {
            zero = zero && problem.loss[r] == 0;
            for (std::int64_t c = 0; c < 67; ++c) zero = zero && problem.logits[r * 70 + c] == 0;
        }
        CHECK(zero);
        CHECK(problem.marks_intact());
    });
}

TEST_CASE("B20: losses of zero logits, and their mean over many rows") {
    const std::pair<std::int64_t, double> cases[] = {{2, 0.693147}, {256, 5.545177}, {50257, 10.824905}};
    for_each_isa([&](const KernelTable<float>& table) {
        for (const auto& [vocab, expected] : cases) {
            const std::int64_t rows = vocab == 2 ? 100000 : 3;
            Problem<float> problem(rows, vocab, vocab, 0);
            for (auto& target : problem.targets) target = 1;
            table.cross_entropy.forward(problem.args(), 0, rows);
            double sum = 0;
            for (std::int64_t r = 0; r < rows; ++r) sum += problem.loss[r];
            CHECK(std::abs(sum / static_cast<double>(rows) - expected) <= 1e-6);
        }
    });
}

TEST_CASE("Cross-entropy of extreme logits is right, and NaN shows") {
    for_each_isa([](const KernelTable<float>& table) {
        Problem<float> problem(3, 40, 40, 1);
        problem.targets = {7, 7, 7};
        for (std::int64_t c = 0; c < 40; ++c) {
            problem.logits[c] = c == 7 ? 3e38f : -3e38f;                                       // certain and right
            problem.logits[40 + c] = c == 5 ? 1e4f : -std::numeric_limits<float>::infinity();  // masked, and wrong
        }
        problem.logits[40 + 7] = 0;
        problem.logits[80 + 39] = std::numeric_limits<float>::quiet_NaN();
        table.cross_entropy.forward_backward(problem.args(), 0, 3);
        CHECK(problem.loss[0] == 0);
        CHECK(problem.logits[7] == 0);
        CHECK(problem.loss[1] == 1e4);
        CHECK(problem.logits[40 + 5] == 1);
        CHECK(problem.logits[40 + 7] == -1);
        CHECK(std::isnan(problem.loss[2]));
    });
}
