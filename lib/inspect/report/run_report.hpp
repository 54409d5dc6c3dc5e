#pragma once

#include <chrono>
#include <string>

#include "inspect/report/page.hpp"
#include "io/run_folder.hpp"

namespace causeway::report {

/// Keeps report.html of a run's folder up to date from the files that are in it: config.json, run.json, metrics.jsonl,
/// samples.jsonl. It can be made at any time, also long after the run.
class RunReport {
  public:
    /// The config is that of the folder; it is read when none is given.
    explicit RunReport(RunFolder run);
    RunReport(RunFolder run, Config config);

    /// Writes the page when the last one is old enough: at least 3 seconds, or with `eagerly` none, but always a
    /// hundred times what writing it took, so that reports cost a run less than 1% of its time. True when it was
    /// written.
    bool write_when_due(bool eagerly);
    /// Reads what is new and writes the page, as a whole or not at all. Throws IoError.
    void write();
    /// Reads what is new.
    const RunRecords& read();
    /// The files are read from their beginning the next time: lines were taken from them.
    void forget() { records_.history = {}; }

  private:
    using Clock = std::chrono::steady_clock;
    RunFolder run_;
    RunRecords records_;
    Clock::time_point written_ = Clock::now();  ///< or begun
    Clock::duration cost_{};                    ///< of the last page
};

}  // namespace causeway::report
