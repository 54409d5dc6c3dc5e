#include "base/format.hpp"

#if FMT_VERSION < 110000
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::basic_string_view<char>, fmt::format_args,
                                            fmt::detail::locale_ref);
#endif
