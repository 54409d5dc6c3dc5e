#include "inspect/machine.hpp"

namespace causeway {

MachinePeaks measure_machine(int threads, double seconds) {
    ThreadPool pool(threads);
    return measure_peaks(pool, seconds);
}

double measure_flop_peak(Isa isa, int threads) {
    ThreadPool pool(threads);
    return measure_flop_peak(pool, isa);
}

}  // namespace causeway
