#pragma once

// fmt, header-only so that programs which link the library need not have it. What formatting costs to compile is nearly
// all in one template; it is compiled once, in format.cpp, instead of in every file: a third of the time.

#include <fmt/format.h>

#if FMT_VERSION < 110000
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::basic_string_view<char>,
                                                   fmt::format_args, fmt::detail::locale_ref);
#endif
