#include <charconv>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string_view>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "base/isa.hpp"
#include "causeway/error.hpp"
#include "causeway/version.hpp"
#include "exec/machine_peaks.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace {

using namespace causeway;

constexpr const char* usage = R"(Usage: causeway_bench [--threads N] [--once CASE] [OPTION OF GOOGLE BENCHMARK...]

Times kernels and whole training steps. Cases are named area/type/shape.

  --threads N                        on N threads (default: 1)
  --once CASE                        run one case untimed, inside the function causeway_bench_region, to be watched by
                                     a tool such as callgrind
  --benchmark_list_tests             the names of all cases
  --benchmark_filter=REGEX           only the cases that match
  --benchmark_repetitions=N, --benchmark_min_time=SECONDS, --benchmark_enable_random_interleaving=true
                                     rounds, their length, and rounds of different cases in turn
  --benchmark_out=FILE               also write JSON

CAUSEWAY_ISA=avx2 (or sse2, reference) in the environment forces an instruction set.

Examples:
  causeway_bench --benchmark_filter='gemm|softmax'
  causeway_bench --threads 2 --benchmark_filter=^train/
  valgrind --tool=callgrind --toggle-collect=causeway_bench_region causeway_bench --once softmax/f32/128x512
)";

struct Options {
    bool help = false;
    std::string threads = "1";
    std::optional<std::string> once;
};

/// Takes what is ours out of the arguments and leaves the rest to Google Benchmark.
Options take_options(int& argc, char** argv) {
    Options options;
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const auto value_of = [&](std::string_view name) -> const char* {
            if (argument == name) return i + 1 < argc ? argv[++i] : "";
            return argument.starts_with(name) && argument[name.size()] == '=' ? argv[i] + name.size() + 1 : nullptr;
        };
        if (argument == "--help" || argument == "-h") {
            options.help = true;
        } else if (const char* threads = value_of("--threads")) {
            options.threads = threads;
        } else if (const char* once = value_of("--once")) {
            options.once = once;
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    argv[argc] = nullptr;
    return options;
}

/// The families that people come for stand first.
void register_families() {
    bench::register_softmax();
    bench::register_gemm();
    bench::register_attention();
    bench::register_lm_head();
    bench::register_loss();
    bench::register_norm();
    bench::register_elementwise();
    bench::register_optimizer();
    bench::register_stream();
    bench::register_decode();
    bench::register_tokenize();
    bench::register_train();
    bench::register_attention_growth();
    bench::register_train_growth();
}

std::string compiler() {
#if defined(__clang__)
    return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

/// What the figures hang on: goes to the head of every output.
void describe_run() {
    const bench::Setup& setup = bench::setup();
    benchmark::AddCustomContext("causeway", std::string(version()));
    benchmark::AddCustomContext("compiler", compiler());
    benchmark::AddCustomContext("cpu", cpu_model());
    benchmark::AddCustomContext("isa", std::string(to_string(setup.kernels->isa)));
    benchmark::AddCustomContext("threads", std::to_string(setup.threads));
    benchmark::AddCustomContext("peak GFLOP/s a thread", fmt::format("{:.1f}", setup.peak_flops_per_second * 1e-9));
}

/// A whole number from 1 to 1024; 0 for anything else.
int thread_count(const std::string& text) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && count >= 1 && count <= 1024 ? count : 0;
}

int run(const Options& options) {
    bench::Setup& setup = bench::setup();
    setup.threads = thread_count(options.threads);
    setup.kernels = &kernels::kernel_table(choose_isa("auto"));
    register_families();
    if (options.once) {
        if (!bench::run_once(*options.once)) {
            std::fprintf(stderr, "causeway_bench: --once: there is no case \"%s\"; --benchmark_list_tests names all\n",
                         options.once->c_str());
            return 1;
        }
        std::printf("%s run once, %s, %s\n", options.once->c_str(), to_string(setup.kernels->isa).data(),
                    compiler().c_str());
        return 0;
    }
    ThreadPool one(1);
    setup.peak_flops_per_second = measure_flop_peak(one, setup.kernels->isa);
    describe_run();
    bench::register_cases();
    const std::size_t cases = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    if (cases == 0) {
        std::fputs(
            "causeway_bench: no case ran: --benchmark_filter matches none, or is no regular expression; "
            "--benchmark_list_tests names all\n",
            stderr);
        return 1;
    }
    return 0;
}

/// What was printed must have got there: otherwise the work was for nothing.
int check_output(int code) {
    std::cout.flush();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
    std::fputs("causeway_bench: cannot write to standard output\n", stderr);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = take_options(argc, argv);
    if (options.help) {
        std::fputs(usage, stdout);
        return check_output(0);
    }
    if (thread_count(options.threads) == 0) {
        std::fprintf(stderr, "causeway_bench: --threads: found \"%s\", expected a number from 1 to 1024\n",
                     options.threads.c_str());
        return 1;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    try {
        return check_output(run(options));
    } catch (const Error& error) {
        std::fprintf(stderr, "causeway_bench: %s\n", error.what());
        return 1;
    }
}
