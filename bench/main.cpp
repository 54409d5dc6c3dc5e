#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/cpu.hpp"
#include "base/isa.hpp"
#include "causeway/error.hpp"
#include "exec/machine_peaks.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace {

using namespace causeway;

/// Takes "--threads N" or "--threads=N" out of the arguments; 1 when absent, 0 when it is no positive number.
int take_threads(int& argc, char** argv) {
    int threads = 1;
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--threads") {
            threads = i + 1 < argc ? std::atoi(argv[++i]) : 0;
        } else if (argument.starts_with("--threads=")) {
            threads = std::atoi(argv[i] + sizeof("--threads=") - 1);
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    argv[argc] = nullptr;
    return threads;
}

void prepare(int threads) {
    bench::Setup& setup = bench::setup();
    setup.threads = threads;
    setup.kernels = &kernels::kernel_table(choose_isa("auto"));
    ThreadPool one(1);
    setup.peak_flops_per_second = measure_flop_peak(one, setup.kernels->isa);
    benchmark::AddCustomContext("cpu", cpu_model());
    benchmark::AddCustomContext("isa", std::string(to_string(setup.kernels->isa)));
    benchmark::AddCustomContext("threads", std::to_string(threads));
    benchmark::AddCustomContext("peak GFLOP/s a thread", std::to_string(setup.peak_flops_per_second * 1e-9));
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = take_threads(argc, argv);
    if (threads < 1) {
        std::fprintf(stderr, "causeway_bench: --threads needs a positive number\n");
        return 1;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    try {
        prepare(threads);
    } catch (const Error& error) {
        std::fprintf(stderr, "causeway_bench: %s\n", error.what());
        return 1;
    }
    bench::register_attention();
    bench::register_elementwise();
    bench::register_gemm();
    bench::register_loss();
    bench::register_norm();
    bench::register_optimizer();
    bench::register_softmax();
    bench::register_train();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
