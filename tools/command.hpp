#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace causeway::cli {

/// Exit codes of every subcommand. A run that a signal ended gives 128 + the signal's number: 130 after Ctrl-C.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;  ///< the work failed: a config, a file, the memory, a check
inline constexpr int exit_usage = 2;    ///< the command line cannot be understood

/// A subcommand: what it is called with, and what it does once that is known.
struct Command {
    CLI::App* app;
    std::function<int()> run;  ///< returns the exit code; throws causeway::Error
};

// One file each. They add the subcommand to `app`.
Command add_train(CLI::App& app);
Command add_data(CLI::App& app);
Command add_generate(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_trace(CLI::App& app);
Command add_check(CLI::App& app);
Command add_info(CLI::App& app);
Command add_schema(CLI::App& app);
Command add_eval(CLI::App& app);
Command add_import(CLI::App& app);
Command add_export(CLI::App& app);
Command add_tokenize(CLI::App& app);
Command add_tokenizer(CLI::App& app);

/// For options with a whole number from low to high. Without it CLI11 takes the nearest number that its type holds, and
/// -1 for the largest one without a sign.
template <class T>
CLI::Validator whole_number(T low, T high = std::numeric_limits<T>::max()) {
    const auto check = [low, high](const std::string& text) -> std::string {
        T value{};
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && rest == end && value >= low && value <= high) return "";
        return fmt::format("found {}, expected an integer from {} to {}", text, low, high);
    };
    return CLI::Validator(check, "");
}

/// --set section.field=value, as often as one likes.
inline void add_overrides(CLI::App* app, std::vector<std::string>& overrides) {
    app->add_option("--set", overrides, "Set a field of the config: --set train.max_steps=500")
        ->type_name("FIELD=VALUE")
        ->allow_extra_args(false);
}

inline void add_config(CLI::App* app, std::string& path) {
    app->add_option("CONFIG", path, "The config, a JSON file (docs/config.md)")->required()->type_name("FILE");
}

/// --mask FILE.npy; `path` stays empty without it.
inline void add_mask(CLI::App* app, std::string& path) {
    app->add_option(
           "--mask", path,
           "What each query may see beside what the model hides: (T,T) or (1 or B, 1 or H, T, T), 0 hides a key")
        ->type_name("FILE.npy");
}

/// Exactly one of the options is to be given.
inline void require_one_of(CLI::App* app, const std::vector<CLI::Option*>& options) {
    for (CLI::Option* option : options) {
        for (CLI::Option* other : options) {
            if (other != option) option->excludes(other);
        }
    }
    app->parse_complete_callback([options] {
        std::string names;
        for (const CLI::Option* option : options) {
            if (option->count() > 0) return;
            names += (names.empty() ? "" : " or ") + option->get_name();
        }
        throw CLI::RequiredError(names);
    });
}

}  // namespace causeway::cli
