#pragma once

#include <string>
#include <vector>

namespace causeway {

/// A table for terminals: every column as wide as its widest cell (in UTF-8 characters), two blanks between columns,
/// no trailing blanks.
class TextTable {
  public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// One cell a column; missing ones stay empty.
    void add(std::vector<std::string> cells);
    /// Title line, then the rows, each with its newline.
    std::string str() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Characters of a UTF-8 text, which is what a terminal shows in most cases.
std::size_t display_width(const std::string& text);
/// The text with blanks before it, so that it is `width` characters wide.
std::string pad_left(const std::string& text, std::size_t width);

}  // namespace causeway
