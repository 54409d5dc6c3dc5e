#pragma once

#include <string_view>

namespace causeway::report {

/// The style sheet and the script of a report, as they stand in the page.
std::string_view page_style();
/// Shows values under the pointer, remembers what is open and chosen, and loads the page anew while the run goes on.
/// Everything but that works without it.
std::string_view page_script();

}  // namespace causeway::report
