#include "inspect/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.hpp"

namespace causeway {
namespace {

constexpr std::string_view sans = "DejaVu Sans, Helvetica, Arial, sans-serif";
constexpr std::string_view mono = "DejaVu Sans Mono, Menlo, Consolas, monospace";

}  // namespace

Svg::Svg(double width, double height, std::string_view title) {
    body_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
        "font-family=\"{2}\">\n<title>{3}</title>\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n",
        width, height, sans, xml_escaped(title));
}

void Svg::rect(double x, double y, double width, double height, std::string_view fill, std::string_view tooltip,
               std::string_view stroke) {
    body_ += fmt::format("<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" fill=\"{}\"", x, y, width,
                         height, fill);
    if (!stroke.empty()) body_ += fmt::format(" stroke=\"{}\" stroke-width=\"0.5\"", stroke);
    body_ += tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", xml_escaped(tooltip));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view colour, bool dashed) {
    body_ += fmt::format("<line x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\" stroke=\"{}\"{}/>\n", x1, y1,
                         x2, y2, colour, dashed ? " stroke-dasharray=\"4 3\"" : "");
}

void Svg::text(double x, double y, std::string_view text, double size, std::string_view fill, Anchor anchor,
               bool monospace) {
    constexpr std::array<std::string_view, 3> anchors{"start", "middle", "end"};
    body_ += fmt::format("<text x=\"{:.6g}\" y=\"{:.6g}\" font-size=\"{:g}\" fill=\"{}\"", x, y, size, fill);
    if (anchor != Anchor::start) body_ += fmt::format(" text-anchor=\"{}\"", anchors[static_cast<std::size_t>(anchor)]);
    if (monospace) body_ += fmt::format(" font-family=\"{}\"", mono);
    body_ += fmt::format(">{}</text>\n", xml_escaped(text));
}

void Svg::vertical_text(double x, double y, std::string_view text, double size, bool monospace) {
    body_ += fmt::format(
        "<text x=\"{0:.6g}\" y=\"{1:.6g}\" font-size=\"{2:g}\" fill=\"#1f2933\"{3} transform=\"rotate(-90 "
        "{0:.6g} {1:.6g})\">{4}</text>\n",
        x, y, size, monospace ? fmt::format(" font-family=\"{}\"", mono) : "", xml_escaped(text));
}

void Svg::heading(double x, double y, std::string_view text, double size) {
    body_ += fmt::format(
        "<text x=\"{:.6g}\" y=\"{:.6g}\" font-size=\"{:g}\" font-weight=\"600\" fill=\"#10202e\">{}</text>\n", x, y,
        size, xml_escaped(text));
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

std::string_view palette_colour(std::size_t i) {
    constexpr std::array<std::string_view, 14> colours{"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
                                                       "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#86bcb6",
                                                       "#8cd17d", "#a0cbe8", "#d4a6c8", "#bab0ac"};
    return colours[i % colours.size()];
}

std::string heat_colour(double value) {
    if (std::isnan(value)) return "#ff00ff";
    constexpr std::array<std::array<double, 3>, 4> stops{
        {{255, 255, 255}, {158, 202, 225}, {33, 113, 181}, {8, 29, 88}}};
    const double at = std::clamp(value, 0.0, 1.0) * (stops.size() - 1);
    const std::size_t low = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    const double part = at - static_cast<double>(low);
    std::array<int, 3> rgb{};
    for (std::size_t c = 0; c < 3; ++c) {
        rgb[c] = static_cast<int>(stops[low][c] + part * (stops[low + 1][c] - stops[low][c]) + 0.5);
    }
    return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

}  // namespace causeway
