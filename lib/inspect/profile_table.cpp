#include "inspect/profile_table.hpp"

#include "base/format.hpp"
#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {

namespace {

class ProfileTable {
  public:
    ProfileTable(const ProfileBounds& bounds, double total_seconds) : bounds_(bounds), total_seconds_(total_seconds) {}

    void add(const ProfileRow& row) {
        const double flops = rate(row.flops, row.seconds), bytes = rate(row.bytes, row.seconds);
        const double of_flops = rate(flops, bounds_.flops_per_second), of_bytes = rate(bytes, bounds_.bytes_per_second);
        const bool memory = of_bytes > of_flops;
        const bool known = of_flops > 0 || of_bytes > 0;
        table_.add({row.op, row.calls > 0 ? count_text(row.calls) : "", seconds_text(row.seconds),
                    row.calls > 0 ? seconds_text(row.seconds / static_cast<double>(row.calls)) : "", share(row.seconds),
                    fmt::format("{:.2f}", rate(row.busy_seconds, row.seconds)), fmt::format("{:.1f}", flops / 1e9),
                    fmt::format("{:.1f}", bytes / 1e9),
                    known ? fmt::format("{:.1f}", 100 * (memory ? of_bytes : of_flops)) : "-",
                    known ? (memory ? "memory" : "FLOP/s") : ""});
    }
    void add_time(const std::string& what, double seconds) {
        table_.add({what, "", seconds_text(seconds), "", share(seconds)});
    }
    std::string str() const { return table_.str(); }

  private:
    static double rate(double amount, double by) { return by > 0 ? amount / by : 0; }
    std::string share(double seconds) const { return fmt::format("{:.1f} %", 100 * rate(seconds, total_seconds_)); }

    static constexpr auto right = TextTable::Align::right;
    ProfileBounds bounds_;
    double total_seconds_;
    TextTable table_{{{"op"},
                      {"calls", right},
                      {"time", right},
                      {"a call", right},
                      {"share", right},
                      {"threads", right},
                      {"GFLOP/s", right},
                      {"GB/s", right},
                      {"% of peak", right},
                      {"peak"}}};
};

}  // namespace

std::string profile_text(const std::vector<ProfileRow>& rows, const ProfileBounds& bounds, double outside_seconds) {
    ProfileRow all;
    all.op = "all ops";
    for (const ProfileRow& row : rows) {
        all.seconds += row.seconds;
        all.busy_seconds += row.busy_seconds;
        all.flops += row.flops;
        all.bytes += row.bytes;
    }
    ProfileTable table(bounds, all.seconds + outside_seconds);
    for (const ProfileRow& row : rows) table.add(row);
    table.add(all);
    if (outside_seconds > 0) {
        table.add_time("outside the plan", outside_seconds);
        table.add_time("training steps", all.seconds + outside_seconds);
    }
    return table.str();
}

}  // namespace causeway
