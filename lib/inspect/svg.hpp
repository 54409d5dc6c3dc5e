#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// Builds an SVG picture element by element. Texts are escaped; colours are CSS colours.
class Svg {
  public:
    enum class Anchor { start, middle, end };

    /// Pixels; `title` names the picture for screen readers and browsers.
    Svg(double width, double height, std::string_view title);

    /// A rectangle; a tooltip when one is given; `stroke` empty for none.
    void rect(double x, double y, double width, double height, std::string_view fill, std::string_view tooltip = "",
              std::string_view stroke = "");
    void line(double x1, double y1, double x2, double y2, std::string_view colour, bool dashed = false);
    void text(double x, double y, std::string_view text, double size = 11, std::string_view fill = "#1f2933",
              Anchor anchor = Anchor::start, bool monospace = false);
    /// The same turned by -90 degrees about (x, y): reads upwards.
    void vertical_text(double x, double y, std::string_view text, double size = 11, bool monospace = false);
    void heading(double x, double y, std::string_view text, double size = 15);

    std::string str() const { return body_ + "</svg>\n"; }

  private:
    std::string body_;
};

/// Text as XML character data or attribute: & < > " and control characters replaced.
std::string xml_escaped(std::string_view text);

/// The i-th of a row of well distinguishable colours, again from the first after the last.
std::string_view palette_colour(std::size_t i);

/// White (0) to dark blue (1), evenly darker; magenta for NaN.
std::string heat_colour(double value);

}  // namespace causeway
