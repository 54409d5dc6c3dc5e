#include "inspect/text_table.hpp"

#include <algorithm>

namespace causeway {

std::size_t display_width(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string pad_left(const std::string& text, std::size_t width) {
    const std::size_t present = display_width(text);
    return std::string(width > present ? width - present : 0, ' ') + text;
}

void TextTable::add(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::str() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = display_width(columns_[c].title);
        for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
        widths.push_back(width);
    }
    std::string text;
    const auto line = [&](auto&& cell_of) {
        std::string out;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::string& cell = cell_of(c);
            const std::string blanks(widths[c] - display_width(cell), ' ');
            if (c > 0) out += "  ";
            out += columns_[c].align == Align::right ? blanks + cell : cell + blanks;
        }
        out.erase(out.find_last_not_of(' ') + 1);
        text += out + "\n";
    };
    line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
    for (const auto& row : rows_) line([&](std::size_t c) -> const std::string& { return row[c]; });
    return text;
}

}  // namespace causeway
