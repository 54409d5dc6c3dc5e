#pragma once

#include <string>
#include <string_view>

namespace causeway::report {

/// Any bytes as text of an HTML page or a quoted attribute: markup is escaped, what is no UTF-8 and control characters
/// (but newline and tab) become U+FFFD.
std::string html_text(std::string_view bytes);

}  // namespace causeway::report
