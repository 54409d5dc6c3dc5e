#include <memory>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "base/isa.hpp"
#include "causeway/version.hpp"
#include "command.hpp"
#include "inspect/machine.hpp"
#include "inspect/units.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "CAUSEWAY_ISA chooses a weaker instruction set for any subcommand, as runtime.isa does in a config.\n"
    "\n"
    "Examples:\n"
    "  causeway info\n"
    "  CAUSEWAY_ISA=avx2 causeway info --threads 1";

struct Arguments {
    int threads = 0;
    bool no_peaks = false;
};

std::string machine_text() {
    const CacheSizes caches = cache_sizes();
    const auto size = [](std::size_t bytes) { return bytes > 0 ? bytes_text(static_cast<double>(bytes)) : "unknown"; };
    std::vector<std::string_view> isas;
    for (const Isa isa : available_isas()) isas.push_back(to_string(isa));
    std::string text = fmt::format("version  causeway {}\n", version());
    text += fmt::format("cpu      {}\n", cpu_model());
    text += fmt::format("caches   L1d {}, L2 {}, L3 {}\n", size(caches.l1d), size(caches.l2), size(caches.l3));
    text += fmt::format("memory   {} available\n", bytes_text(static_cast<double>(available_memory())));
    text += fmt::format("threads  {} available\n", available_threads());
    return text + fmt::format("isa      {} (here: {})\n", to_string(choose_isa("auto")), fmt::join(isas, ", "));
}

}  // namespace

Command add_info(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("info", "Show the machine: CPU, instruction sets, threads, measured peaks");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("--threads", arguments->threads, "Measure on that many threads, 0 for all")
        ->type_name("N")
        ->check(CLI::Range(0, 1024))
        ->capture_default_str();
    sub->add_flag("--no-peaks", arguments->no_peaks, "Measure nothing");
    sub->footer(footer);
    return {sub, [arguments] {
                print(machine_text());
                if (!arguments->no_peaks) print("\n" + peaks_text(measure_machine(arguments->threads)));
                return exit_success;
            }};
}

}  // namespace causeway::cli
