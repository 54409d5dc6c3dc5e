#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "causeway/error.hpp"
#include "causeway/version.hpp"
#include "command.hpp"
#include "config/nearest_name.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Exit codes: 0 success, 1 failure, 2 a command line that cannot be understood, 128 + N after signal N.\n"
    "`causeway SUBCOMMAND --help` has examples.\n"
    "\n"
    "Examples:\n"
    "  causeway train configs/repeat_h4.json --out build/runs/repeat_h4\n"
    "  causeway plan configs/kjv_bytes.json\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"In the beginning\"";

class Program {
  public:
    Program() {
        app_.require_subcommand(0, 1);
        app_.set_version_flag("--version", fmt::format("causeway {}", version()), "Print the version");
        app_.footer(footer);
        for (const auto add : {add_train, add_data, add_generate, add_inspect, add_eval, add_import, add_export,
                               add_tokenize, add_tokenizer, add_plan, add_trace, add_check, add_info, add_schema}) {
            commands_.push_back(add(app_));
        }
        CLI::App* version_command = app_.add_subcommand("version", "Print the version");
        version_command->footer("Examples:\n  causeway version");
        commands_.push_back({version_command, [] {
                                 print(fmt::format("causeway {}\n", version()));
                                 return exit_success;
                             }});
    }

    int run(int argc, const char* const* argv) {
        if (argc > 1 && !check_subcommand(argv[1])) return exit_usage;
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return report(error);
        }
        const Command* command = chosen();
        if (command == nullptr) {
            complain("causeway", "a subcommand is missing; `causeway --help` lists them");
            return exit_usage;
        }
        return execute(*command);
    }

  private:
    const Command* chosen() const {
        const auto found = std::ranges::find_if(commands_, [](const Command& c) { return c.app->parsed(); });
        return found == commands_.end() ? nullptr : &*found;
    }

    std::string name_of(const Command* command) const {
        return command == nullptr ? "causeway" : "causeway " + command->app->get_name();
    }

    /// False, with a message, when the first word is neither an option nor a subcommand.
    bool check_subcommand(const std::string& word) const {
        if (word.starts_with("-")) return true;
        std::vector<std::string> names;
        for (const Command& command : commands_) names.push_back(command.app->get_name());
        if (std::ranges::find(names, word) != names.end()) return true;
        const std::string nearest = config::nearest_name(word, names);
        complain("causeway", fmt::format("\"{}\" is no subcommand{}; there are: {}", word,
                                         nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest),
                                         fmt::join(names, ", ")));
        return false;
    }

    /// Help and version are "errors" of the parser too.
    int report(const CLI::ParseError& error) const {
        const Command* command = chosen();
        if (error.get_name() == "CallForHelp")
            return show(command == nullptr ? app_.help() : command->app->help("causeway"));
        if (error.get_name() == "CallForVersion") return show(std::string(error.what()) + "\n");
        // A misspelt option explains why a required one seems to be missing.
        const std::string extra = unexpected(command);
        const std::string text = extra.empty() ? error.what() : extra;
        complain(name_of(command), fmt::format("{}; see `{} --help`", text, name_of(command)));
        return exit_usage;
    }

    /// Names the first argument that nobody expects, and the option most like it; empty when there is none.
    std::string unexpected(const Command* command) const {
        const CLI::App* app = command == nullptr ? &app_ : command->app;
        const std::vector<std::string> rest = app->remaining();
        if (rest.empty()) return "";
        const std::string word = rest.front().substr(0, rest.front().find('='));
        if (!word.starts_with("-")) return fmt::format("unexpected argument \"{}\"", word);
        std::vector<std::string> names;
        for (const CLI::Option* option : app->get_options()) {
            if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
        }
        const std::string nearest = config::nearest_name(word, names);
        return fmt::format("unknown option {}{}", word,
                           nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest));
    }

    static int show(const std::string& text) {
        print(text);
        return exit_success;
    }

    int execute(const Command& command) const {
        try {
            return command.run();
        } catch (const std::bad_alloc&) {
            complain(name_of(&command), "out of memory");
        } catch (const std::exception& error) {
            complain(name_of(&command), error.what());
        }
        return exit_failure;
    }

    CLI::App app_{"Causal language models compiled to static graphs, on the CPU", "causeway"};
    std::vector<Command> commands_;
};

}  // namespace
}  // namespace causeway::cli

int main(int argc, char** argv) {
    // A reader that goes away or a file that may not grow is an error of write(2), so that what is under way can still
    // be saved.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    causeway::cli::reserve_standard_descriptors();
    try {
        return causeway::cli::Program().run(argc, argv);
    } catch (const std::exception& error) {
        causeway::cli::complain("causeway", error.what());
        return causeway::cli::exit_failure;
    }
}
