#pragma once

// One include for Catch2 2.13 (Debian 12) and 3.x (Debian 13).
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
using Catch::Approx;
inline auto contains(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
#else
#include <catch2/catch.hpp>
inline auto contains(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

/// Runs `expression` and checks that it throws `Type` with a message that contains `text`.
#define CHECK_THROWS_MESSAGE(expression, Type, text) \
    CHECK_THROWS_WITH(                               \
        [&] {                                        \
            try {                                    \
                (void)(expression);                  \
            } catch (const Type&) {                  \
                throw;                               \
            }                                        \
        }(),                                         \
        contains(text))
