#include "command.hpp"
#include "config/config.hpp"
#include "output.hpp"

namespace causeway::cli {

Command add_schema(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("schema", "Print the JSON Schema of configs, for editors");
    sub->footer(
        "Examples:\n"
        "  causeway schema > causeway.schema.json");
    return {sub, [] {
                print(config_schema());
                return exit_success;
            }};
}

}  // namespace causeway::cli
