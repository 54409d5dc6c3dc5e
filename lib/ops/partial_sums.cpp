#include "ops/partial_sums.hpp"

namespace causeway::ops {

std::int64_t partial_sum_rows(std::int64_t rows) { return std::max<std::int64_t>(8, ceil_div(rows, 32)); }

void sum_partials(LowerContext& context, const std::string& stage, const PartialSums& partial,
                  std::size_t gradient_input, std::size_t output) {
    const bool first = context.first_write(gradient_input);
    const Cut columns = cut_columns(partial.cols);
    const BufferRef sum = context.out(output);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto column_sums = table.elementwise.column_sums;
        const double elements = static_cast<double>(partial.chunks * partial.cols);
        context.stage(stage, columns.tiles(), {elements, elements * sizeof(T)},
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          column_sums(run.at<const T>(partial.data), partial.stride, partial.chunks, run.at<T>(sum),
                                      !first || run.args.accumulate, columns.begin(begin), columns.begin(end));
                      });
    });
}

}  // namespace causeway::ops
