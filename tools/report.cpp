#include "inspect/report/run_report.hpp"

#include <memory>

#include "base/format.hpp"
#include "command.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "report.html is one page that needs no network: curves, samples, config, machine. `causeway train` keeps it up to\n"
    "date while a run goes on (train.report); this command makes it of the files in DIR, whenever they were written.\n"
    "\n"
    "Examples:\n"
    "  causeway report build/runs/kjv_bytes\n"
    "  causeway report build/runs/kjv_bytes --text";

int run_report(const std::string& folder, bool text) {
    report::RunReport report(RunFolder{folder});
    if (text) {
        print(report::summary_text(report.read()));
    } else {
        report.write();
        print(fmt::format("wrote {}\n", RunFolder{folder}.report()));
    }
    return exit_success;
}

}  // namespace

Command add_report(CLI::App& app) {
    struct Arguments {
        std::string folder;
        bool text = false;
    };
    CLI::App* sub = app.add_subcommand("report", "Write the page about a run: curves, samples, config, machine");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("DIR", arguments->folder, "The folder of a run")->required()->type_name("DIR");
    sub->add_flag("--text", arguments->text, "Print the first figures instead");
    sub->footer(footer);
    return {sub, [arguments] { return run_report(arguments->folder, arguments->text); }};
}

}  // namespace causeway::cli
