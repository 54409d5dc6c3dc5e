#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "inspect/attention_maps.hpp"
#include "inspect/svg.hpp"
#include "inspect/text_table.hpp"

namespace causeway {
namespace {

/// Characters that can be seen as they are, symbols for blanks, two hex digits for the bytes of others.
std::string token_label(std::string_view bytes) {
    std::string label;
    for (std::size_t at = 0; at < bytes.size();) {
        const utf8::Decoded found = utf8::decode(bytes, at);
        const std::size_t length = std::max<std::size_t>(found.bytes, 1);
        if (bytes[at] == ' ') {
            label += "\u2423";
        } else if (bytes[at] == '\n') {
            label += "\u23CE";
        } else if (bytes[at] == '\t') {
            label += "\u21E5";
        } else if (found.bytes > 0 && !utf8::is_control(found.character)) {
            label += bytes.substr(at, length);
        } else {
            for (const char byte : bytes.substr(at, length)) {
                label += fmt::format("{:02x}", static_cast<unsigned char>(byte));
            }
        }
        at += length;
    }
    return label;
}

std::size_t side_of(std::span<const float> map, const std::vector<std::string>& labels) {
    if (map.size() != labels.size() * labels.size()) {
        throw DataError(fmt::format("a map of {} weights does not fit {} labels: expected {}", map.size(),
                                    labels.size(), labels.size() * labels.size()));
    }
    return labels.size();
}

char glyph(float weight) {
    constexpr std::string_view glyphs = " .:-=+*#%@";
    const double index = std::floor(10.0 * static_cast<double>(weight));
    if (std::isnan(index)) return '?';
    return glyphs[static_cast<std::size_t>(std::clamp(index, 0.0, 9.0))];
}

std::size_t widest(const std::vector<std::string>& labels) {
    std::size_t width = 0;
    for (const std::string& label : labels) width = std::max(width, display_width(label));
    return width;
}

/// The key to the colours: a bar from 0 to 1.
void draw_scale(Svg& svg, double x, double y, double height) {
    constexpr int parts = 40;
    for (int i = 0; i < parts; ++i) {
        svg.rect(x, y + height * (parts - 1 - i) / parts, 12, height / parts + 0.5, heat_colour((i + 0.5) / parts));
    }
    svg.text(x + 17, y + 8, "1", 10, "#62707d");
    svg.text(x + 17, y + height, "0", 10, "#62707d");
}

/// One rectangle a cell, with a tooltip.
void draw_cells(Svg& svg, std::span<const float> map, double x0, double y0, double cell,
                const std::vector<std::string>& labels) {
    for (std::size_t t = 0; t < labels.size(); ++t) {
        for (std::size_t s = 0; s <= t; ++s) {
            const double weight = static_cast<double>(map[t * labels.size() + s]);
            svg.rect(x0 + static_cast<double>(s) * cell, y0 + static_cast<double>(t) * cell, cell, cell,
                     heat_colour(weight),
                     fmt::format("query {} '{}' looks at key {} '{}': {:.4f}", t, labels[t], s, labels[s], weight));
        }
    }
}

/// Cells too many for that: 64 shades, and neighbours of one shade in one rectangle.
void draw_small_cells(Svg& svg, std::span<const float> map, std::size_t side, double x0, double y0, double cell) {
    const auto shade = [&](std::size_t t, std::size_t s) {
        return std::round(64 * static_cast<double>(map[t * side + s]));
    };
    for (std::size_t t = 0; t < side; ++t) {
        for (std::size_t s = 0, next = 0; s <= t; s = next) {
            do {
                ++next;
            } while (next <= t && shade(t, next) == shade(t, s));
            svg.rect(x0 + static_cast<double>(s) * cell, y0 + static_cast<double>(t) * cell,
                     static_cast<double>(next - s) * cell, cell, heat_colour(shade(t, s) / 64));
        }
    }
}

}  // namespace

std::vector<std::string> token_labels(const Tokenizer* tokenizer, std::span<const std::int32_t> ids) {
    std::vector<std::string> labels;
    for (const std::int32_t id : ids) {
        const bool text = tokenizer != nullptr && id < tokenizer->vocab_size();
        labels.push_back(text ? token_label(tokenizer->token_bytes(id)) : fmt::format("{}", id));
    }
    return labels;
}

std::string heatmap_text(std::span<const float> map, const std::vector<std::string>& labels) {
    const std::size_t side = side_of(map, labels), width = widest(labels);
    std::string text;
    for (std::size_t t = 0; t < side; ++t) {
        text += pad_left(labels[t], width) + " |";
        for (std::size_t s = 0; s < side; ++s) text += glyph(map[t * side + s]);
        text += "|\n";
    }
    return text;
}

std::string heatmap_svg(std::span<const float> map, const std::vector<std::string>& labels, const std::string& title) {
    const std::size_t side = side_of(map, labels);
    const double count = static_cast<double>(side);
    const double cell = std::clamp(720.0 / std::max(count, 1.0), 9.0, 30.0);
    const double type = std::min(12.0, cell * 0.78);
    const double band = 14 + type * 0.62 * static_cast<double>(widest(labels));
    const double x0 = 34 + band, y0 = 58 + band, size = cell * count;
    const double width = std::max(x0 + size + 70, 90 + 8.6 * static_cast<double>(title.size()));
    Svg svg(width, y0 + size + 24, title);
    svg.heading(22, 30, title, 15);
    svg.text(22, 48, "a row is a query, a column a key it may look at", 10.5, "#62707d");
    svg.rect(x0, y0, size, size, "#f1f3f5");
    draw_cells(svg, map, x0, y0, cell, labels);
    svg.rect(x0, y0, size, size, "none", "", "#8593a0");
    for (std::size_t i = 0; i < side; ++i) {
        const double middle = (static_cast<double>(i) + 0.5) * cell;
        svg.text(x0 - 6, y0 + middle + type * 0.36, labels[i], type, "#1f2933", Svg::Anchor::end, true);
        svg.vertical_text(x0 + middle + type * 0.36, y0 - 6, labels[i], type, true);
    }
    draw_scale(svg, x0 + size + 20, y0, std::min(size, 160.0));
    return svg.str();
}

std::string heatmap_grid_svg(const AttentionMaps& maps, std::int64_t sequence, const std::string& title) {
    const double length = static_cast<double>(maps.length), heads = static_cast<double>(maps.heads),
                 layers = static_cast<double>(maps.layers);
    const double cell = std::clamp(150.0 / std::max(length, 1.0), 1.5, 14.0);
    const double side = cell * length, gap = 22, x0 = 74, y0 = 84;
    const double width = std::max(x0 + heads * (side + gap) + 60, 60 + 8.6 * static_cast<double>(title.size()));
    Svg svg(width, y0 + layers * (side + gap) + 12, title);
    svg.heading(22, 32, title, 15);
    svg.text(22, 51, "a row is a query, a column a key; white 0, dark 1", 10.5, "#62707d");
    for (std::int64_t head = 0; head < maps.heads; ++head) {
        svg.text(x0 + static_cast<double>(head) * (side + gap) + side / 2, y0 - 8, fmt::format("head {}", head), 11,
                 "#1f2933", Svg::Anchor::middle);
    }
    for (std::int64_t layer = 0; layer < maps.layers; ++layer) {
        const double y = y0 + static_cast<double>(layer) * (side + gap);
        svg.text(x0 - 12, y + side / 2 + 4, fmt::format("layer {}", layer), 11, "#1f2933", Svg::Anchor::end);
        for (std::int64_t head = 0; head < maps.heads; ++head) {
            const double x = x0 + static_cast<double>(head) * (side + gap);
            svg.rect(x, y, side, side, "#f1f3f5");
            draw_small_cells(svg, maps.map(layer, sequence, head), static_cast<std::size_t>(maps.length), x, y, cell);
            svg.rect(x, y, side, side, "none", "", "#8593a0");
        }
    }
    draw_scale(svg, x0 + heads * (side + gap), y0, std::min(side, 120.0));
    return svg.str();
}

}  // namespace causeway
