#include "inspect/report/run_report.hpp"

#include <utility>

#include "io/atomic_file.hpp"

namespace causeway::report {

RunReport::RunReport(RunFolder run) : RunReport(run, load_run(run)) {}

RunReport::RunReport(RunFolder run, Config config) : run_(std::move(run)) {
    records_.folder = run_.folder;
    records_.config = std::move(config);
}

const RunRecords& RunReport::read() {
    records_.card = read_card(run_.card());
    records_.history.read(run_.metrics());
    records_.samples = read_samples(run_.samples());
    return records_;
}

bool RunReport::write_when_due(bool eagerly) {
    constexpr std::chrono::seconds usual{3};
    const Clock::duration age = Clock::now() - written_;
    if (age < 100 * cost_ || (!eagerly && age < usual)) return false;
    write();
    return true;
}

void RunReport::write() {
    const Clock::time_point begin = Clock::now();
    write_text_atomically(run_.report(), page(read()));
    written_ = Clock::now();
    cost_ = written_ - begin;
}

}  // namespace causeway::report
