#include "train/data_fingerprint.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ceil_div.hpp"
#include "io/content_hash.hpp"

namespace causeway::train {
namespace {

constexpr std::int64_t most_rows = 256;
constexpr std::int64_t most_tokens = 1 << 20;  // of those rows: a look at very long ones must not take seconds
constexpr std::int64_t endless_stride = 997;   // batches between two looked at where there is no epoch

void add(ContentHash& hash, const BatchSource* source) {
    const std::int64_t rows = source == nullptr ? -1 : source->rows_per_epoch();
    hash.add(std::as_bytes(std::span(&rows, 1)));
    if (source == nullptr) return;
    const auto size = static_cast<std::size_t>(source->batch_size() * source->sequence_length());
    std::vector<std::int32_t> inputs(size), targets(size);  // (B,T)
    const std::int64_t looked_at = std::clamp(most_tokens / source->sequence_length(), std::int64_t{1}, most_rows);
    const std::int64_t wanted = ceil_div(looked_at, source->batch_size());
    const std::int64_t all = source->batches_per_epoch();
    const std::int64_t count = all == 0 ? wanted : std::min(wanted, all);
    source->check_files();
    for (std::int64_t i = 0; i < count; ++i) {
        source->fill(all == 0 ? i * endless_stride : i * all / count, inputs, targets);
        hash.add(std::as_bytes(std::span(inputs)));
        hash.add(std::as_bytes(std::span(targets)));
    }
}

}  // namespace

std::string data_fingerprint(const DataSources& data) {
    ContentHash hash;
    add(hash, data.train.get());
    add(hash, data.validation.get());
    return hash.text();
}

}  // namespace causeway::train
