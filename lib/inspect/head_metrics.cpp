#include "inspect/head_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "inspect/text_table.hpp"

namespace causeway {
namespace {

/// A mean over those queries that count; NaN over none.
struct Mean {
    double sum = 0;
    std::int64_t count = 0;
    void add(double x) {
        sum += x;
        ++count;
    }
    double value() const {
        return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
    }
};

/// Gathers the metrics of one head, query by query.
class HeadTally {
  public:
    explicit HeadTally(std::int64_t max_look_back) : look_back_(static_cast<std::size_t>(max_look_back + 1)) {}

    /// row: weights of query t, which may see so many `visible` keys; ids: tokens of the sequence.
    void add(std::span<const float> row, std::size_t t, std::int64_t visible, std::span<const std::int32_t> ids) {
        double entropy = 0;
        for (float weight : row) {
            const double w = static_cast<double>(weight);
            if (w > 0) entropy -= w * std::log(w);
        }
        entropy_.add(entropy);
        if (visible > 1) relative_entropy_.add(entropy / std::log(static_cast<double>(visible)));
        if (t >= 1) first_.add(static_cast<double>(row[0]));
        for (std::size_t k = 0; k < look_back_.size() && k <= t; ++k) {
            look_back_[k].add(static_cast<double>(row[t - k]));
        }
        add_induction(row, ids, t);
    }

    HeadMetrics result(std::int64_t layer, std::int64_t head) const {
        HeadMetrics metrics;
        metrics.layer = layer;
        metrics.head = head;
        metrics.entropy = entropy_.value();
        metrics.relative_entropy = relative_entropy_.value();
        metrics.first = first_.value();
        metrics.induction = induction_.value();
        for (const Mean& mean : look_back_) metrics.look_back.push_back(mean.value());
        metrics.self = metrics.look_back[0];
        metrics.previous =
            metrics.look_back.size() > 1 ? metrics.look_back[1] : std::numeric_limits<double>::quiet_NaN();
        return metrics;
    }

  private:
    /// Positions s + 1 < t with the token of s equal to that of t: what came next the last times.
    void add_induction(std::span<const float> row, std::span<const std::int32_t> ids, std::size_t t) {
        double mass = 0;
        bool seen = false;
        for (std::size_t s = 0; s + 1 < t; ++s) {
            if (ids[s] != ids[t]) continue;
            seen = true;
            mass += static_cast<double>(row[s + 1]);
        }
        if (seen) induction_.add(mass);
    }

    Mean entropy_, relative_entropy_, first_, induction_;
    std::vector<Mean> look_back_;
};

std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3f}", value); }

nlohmann::ordered_json json_number(double value) {
    return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

}  // namespace

std::int64_t HeadMetrics::best_look_back() const {
    std::int64_t best = 0;
    for (std::size_t k = 1; k < look_back.size(); ++k) {
        if (std::isnan(look_back[k])) continue;
        if (best == 0 || look_back[k] > look_back[static_cast<std::size_t>(best)]) best = static_cast<std::int64_t>(k);
    }
    return best;
}

std::vector<HeadMetrics> head_metrics(const AttentionMaps& maps, std::span<const std::int32_t> ids,
                                      std::int64_t max_look_back) {
    if (static_cast<std::int64_t>(ids.size()) != maps.batch * maps.length) {
        throw DataError(fmt::format("the maps belong to {} sequences of {} tokens, found {} ids", maps.batch,
                                    maps.length, ids.size()));
    }
    const auto length = static_cast<std::size_t>(maps.length);
    const std::int64_t reach = std::clamp<std::int64_t>(maps.length - 1, 0, std::max<std::int64_t>(max_look_back, 0));
    std::vector<HeadMetrics> metrics;
    for (std::int64_t layer = 0; layer < maps.layers; ++layer) {
        for (std::int64_t head = 0; head < maps.heads; ++head) {
            HeadTally tally(reach);
            for (std::int64_t b = 0; b < maps.batch; ++b) {
                const std::span<const float> map = maps.map(layer, b, head);
                const auto sequence = ids.subspan(static_cast<std::size_t>(b) * length, length);
                for (std::size_t t = 0; t < length; ++t) {
                    tally.add(map.subspan(t * length, length), t, maps.visible_keys(static_cast<std::int64_t>(t)),
                              sequence);
                }
            }
            metrics.push_back(tally.result(layer, head));
        }
    }
    return metrics;
}

std::string head_metrics_text(const std::vector<HeadMetrics>& metrics) {
    constexpr auto right = TextTable::Align::right;
    TextTable table({{"layer", right},
                     {"head", right},
                     {"entropy", right},
                     {"of uniform", right},
                     {"self", right},
                     {"previous", right},
                     {"first", right},
                     {"induction", right},
                     {"most looked back", right}});
    for (const HeadMetrics& m : metrics) {
        const std::int64_t best = m.best_look_back();
        table.add(
            {fmt::format("{}", m.layer), fmt::format("{}", m.head), number(m.entropy), number(m.relative_entropy),
             number(m.self), number(m.previous), number(m.first), number(m.induction),
             best == 0 ? "-" : fmt::format("{} ({})", best, number(m.look_back[static_cast<std::size_t>(best)]))});
    }
    return table.str();
}

std::string head_metrics_json(const std::vector<HeadMetrics>& metrics) {
    auto array = nlohmann::ordered_json::array();
    for (const HeadMetrics& m : metrics) {
        nlohmann::ordered_json look_back = nlohmann::ordered_json::array();
        for (double mass : m.look_back) look_back.push_back(json_number(mass));
        array.push_back({{"layer", m.layer},
                         {"head", m.head},
                         {"entropy", json_number(m.entropy)},
                         {"relative_entropy", json_number(m.relative_entropy)},
                         {"self", json_number(m.self)},
                         {"previous", json_number(m.previous)},
                         {"first", json_number(m.first)},
                         {"induction", json_number(m.induction)},
                         {"look_back", std::move(look_back)}});
    }
    return array.dump(2) + "\n";
}

}  // namespace causeway
