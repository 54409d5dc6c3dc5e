#pragma once

// 0, 1, ..., n - 1 as template arguments, without the standard library: see arch.hpp about inline functions.

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

template <int... i>
struct Sequence {};

namespace detail {
template <int n, int... i>
struct MakeSequence : MakeSequence<n - 1, n - 1, i...> {};
template <int... i>
struct MakeSequence<0, i...> {
    using type = Sequence<i...>;
};
}  // namespace detail

template <int n>
using UpTo = typename detail::MakeSequence<n>::type;

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
