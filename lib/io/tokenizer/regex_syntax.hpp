#pragma once

#include <string>
#include <string_view>

namespace causeway {

/// A pattern in Oniguruma's syntax (that of the `tokenizers` package) as one that means the same to PCRE2 with UTF,
/// UCP and MULTILINE: \s is Unicode's White_Space, \w letters with their marks, \p{Han} the script itself, (?m) lets a
/// dot match line ends. Throws DataError, naming it, for what PCRE2 would read otherwise: sets within sets, \h,
/// {n,m}+, an option in the middle of a group.
std::string translate_pattern(std::string_view pattern);

}  // namespace causeway
