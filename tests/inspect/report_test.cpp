#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "causeway/error.hpp"
#include "inspect/report/axis.hpp"
#include "inspect/report/chart.hpp"
#include "inspect/report/html.hpp"
#include "inspect/report/run_report.hpp"
#include "inspect/report/sections.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/xml.hpp"

using namespace causeway;
using namespace causeway::report;

namespace {

std::string line(int step, const std::string& loss, const std::string& more = "") {
    return "{\"step\":" + std::to_string(step) + ",\"loss\":" + loss +
           ",\"learning_rate\":0.001,\"grad_norm\":1.5,\"tokens_per_second\":1000,\"elapsed_s\":" +
           std::to_string(step * 0.5) + more + "}\n";
}

/// Each <svg>...</svg> of a page.
std::vector<std::string> pictures(const std::string& page) {
    std::vector<std::string> found;
    for (std::size_t at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1)) {
        found.push_back(page.substr(at, page.find("</svg>", at) + 6 - at));
    }
    return found;
}

RunRecords records_of(const TemporaryFolder& folder, const std::string& metrics) {
    RunRecords records;
    records.folder = folder.path().string();
    records.config = resolved(tiny_config());
    records.history.read(folder.write("metrics.jsonl", metrics));
    return records;
}

}  // namespace

TEST_CASE("a curve keeps its extremes and its mean however many steps there are") {
    Curve curve;
    double sum = 0;
    for (int i = 1; i <= 100000; ++i) {
        const double value = i == 70001 ? 99.0 : i == 3 ? -5.0 : std::sin(i * 0.01);
        curve.add(i, i * 0.1, value);
        sum += value;
    }
    const std::vector<Point> points = curve.points(300);
    CHECK(points.size() <= 300);
    CHECK(points.size() > 100);
    double low = 1, high = 0, mean = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        low = std::min(low, points[i].low);
        high = std::max(high, points[i].high);
        mean += points[i].mean * static_cast<double>(points[i].count);
        count += points[i].count;
        if (i > 0) CHECK(points[i].step > points[i - 1].step);
    }
    CHECK(low == -5.0);
    CHECK(high == 99.0);
    CHECK(count == 100000);
    CHECK(std::abs(mean - sum) < 1e-6);
    CHECK(smoothed(points, 3).size() == points.size());
}

TEST_CASE("the labels of an axis differ from each other") {
    const auto check = [](const Axis& axis, double unit = 1, double least = 0) {
        const auto ticks = axis.ticks(5, unit, least);
        std::set<std::string> labels;
        for (const Tick& tick : ticks) {
            labels.insert(tick.label);
            CHECK(axis.at(tick.value) >= 0);
            CHECK(axis.at(tick.value) <= 1);
        }
        CHECK(labels.size() == ticks.size());
        CHECK(ticks.size() >= 2);
    };
    for (const double low : {0.0, 1.5, 1e-5, 2.4e-4, 99.0, 12345.0, -3.0}) {
        for (const double extent : {0.0, 0.01, 1.0, 7.0, 1e5}) {
            INFO(low << " + " << extent);
            check(Axis::linear(low, low + extent));
        }
    }
    check(Axis::logarithmic(0.02, 300));
    check(Axis::logarithmic(1e-8, 1e8));
    check(Axis::exact(1, 100000));
    check(Axis::exact(1, 100000), 1.0 / 768);
    for (const Tick& tick : Axis::exact(0, 2).ticks(5, 1, 1)) CHECK(tick.value == std::floor(tick.value));
    CHECK(figure_text(0.001, 1) == "0.001");
    CHECK(figure_text(3e-4) == "3e-4");
    CHECK(figure_text(76800000) == "76.8 M");
    CHECK(figure_text(0) == "0");
}

TEST_CASE("any bytes become text of a page") {
    CHECK(html_text("a<b>&\"'\n\t") == "a&lt;b&gt;&amp;&quot;&#39;\n\t");
    CHECK(html_text("\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x99\x82") == "\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x99\x82");
    const std::string bad = "\xEF\xBF\xBD";
    CHECK(html_text(std::string("\0\x1b\x7f", 3)) == bad + bad + bad);
    CHECK(html_text("\xFF") == bad);
    CHECK(html_text("\xC3") == bad);                      // cut short
    CHECK(html_text("\xC0\xAF") == bad + bad);            // overlong
    CHECK(html_text("\xED\xA0\x80") == bad + bad + bad);  // a surrogate
    CHECK(html_text("\xC2\x9B") == bad);                  // a C1 control
    std::string all;
    for (int b = 0; b < 256; ++b) all.push_back(static_cast<char>(b));
    CHECK(html_text(all).find('<') == std::string::npos);
}

TEST_CASE("metrics that are null, missing or unknown leave their curve without a point") {
    const TemporaryFolder folder;
    RunHistory history;
    const std::string path = folder.write(
        "metrics.jsonl", line(1, "5.5", ",\"val_loss\":5.4,\"something_new\":{\"a\":[1]}") + "{\"step\":2}\n" +
                             line(3, "null", ",\"updated\":false,\"skipped\":\"spike\"") +
                             "nonsense\n{\"step\":0}\n{\"step\":-4}\n" + line(4, "0", ",\"updated\":false") +
                             line(5, "4.5", ",\"val_loss\":null") + "{\"step\":6,\"lo");
    history.read(path);
    CHECK(history.steps == 5);
    CHECK(history.loss.points(100).size() == 2);
    CHECK(history.last_loss == 4.5);
    CHECK(history.validation.points(100).size() == 1);
    CHECK(history.best_validation == 5.4);
    CHECK(history.not_finite.steps == std::vector<std::int64_t>{3});
    CHECK(history.skipped.steps == std::vector<std::int64_t>{3, 4});
    CHECK(history.unreadable == 3);

    // What the file gains is read once; a shorter file is another one.
    std::ofstream(path, std::ios::app) << "ss\":4.25}\n{\"step\":7,\"elapsed_s\":3.5,\"loss\":4.125}\n";
    history.read(path);
    CHECK(history.steps == 7);
    CHECK(history.loss.points(100).size() == 4);
    CHECK(history.seconds == 3.5);
    folder.write("metrics.jsonl", line(1, "3.0"));
    history.read(path);
    CHECK(history.steps == 1);
    CHECK(history.unreadable == 0);
    RunHistory none;
    none.read(folder.file("no_such_file"));
    CHECK(none.steps == 0);
}

TEST_CASE("a page stands for itself with no step, one, and many") {
    const TemporaryFolder folder;
    std::string many;
    for (int i = 1; i <= 3000; ++i) many += line(i, std::to_string(5.0 / i), i % 100 == 0 ? ",\"val_loss\":0.5" : "");
    for (const std::string& metrics : {std::string(), line(1, "5.5"), line(1, "null"), many}) {
        const std::string page = report::page(records_of(folder, metrics));
        for (const std::string& picture : pictures(page)) CHECK_NOTHROW(XmlReader::element_counts(picture));
        CHECK(pictures(page).size() == (metrics.empty() ? 0 : metrics == line(1, "null") ? 3 : 4));
        CHECK(page.find("http://") == page.find("http://www.w3.org"));  // the name of SVG in the script, no address
        CHECK(page.find("https://") == std::string::npos);
        CHECK(page.find("src=") == std::string::npos);
        CHECK(page.ends_with("</html>\n"));
        CHECK(page.size() < 400000);
        CHECK(page.find("nan") == std::string::npos);
    }
}

TEST_CASE("what a model wrote cannot leave its place in the page") {
    const TemporaryFolder folder;
    RunRecords records = records_of(folder, line(1, "5.5"));
    folder.write(
        "samples.jsonl",
        R"({"step":1,"prompt":"</pre><script>alert(1)</script>","text":"<img src=x onerror=alert(2)> \u001b[31m"})"
        "\nnonsense\n{\"step\":2,\"text\":5}\n");
    records.samples = read_samples(folder.file("samples.jsonl"));
    REQUIRE(records.samples.shown.size() == 1);
    const std::string page = report::page(records);
    CHECK(page.find("<script>alert") == std::string::npos);
    CHECK(page.find("<img") == std::string::npos);
    CHECK(page.find("&lt;img src=x onerror=alert(2)&gt; \xEF\xBF\xBD[31m") != std::string::npos);
}

TEST_CASE("of many samples the first and the latest are shown") {
    const TemporaryFolder folder;
    std::string lines;
    for (int i = 1; i <= 100; ++i) lines += "{\"step\":" + std::to_string(i) + ",\"text\":\"t\"}\n";
    const Samples samples = read_samples(folder.write("samples.jsonl", lines));
    CHECK(samples.shown.size() == Samples::first + Samples::latest);
    CHECK(samples.left_out == 70);
    CHECK(samples.shown[Samples::first - 1].step == 5);
    CHECK(samples.shown[Samples::first].step == 76);
}

TEST_CASE("the description of a run reads back, and a session whose process is gone was lost") {
    const TemporaryFolder folder;
    RunCard card;
    card.version = "1.2.3";
    card.data = "a \"text\"";
    card.cpu = "CPU";
    card.isa = "avx2";
    card.threads = 2;
    card.parameters = 123;
    card.tokens_per_step = 768;
    card.flops_per_step = 1.5e9;
    card.sessions = {{"2026-01-01T00:00:00Z", 1, RunState::stopped, "SIGINT after 5 steps", 17},
                     {utc_time(), 6, RunState::running, "", getpid()}};
    const auto read = read_card(folder.write("run.json", report::to_json(card)));
    REQUIRE(read);
    CHECK(report::to_json(*read) == report::to_json(card));
    CHECK(read->sessions[0].ended_by == "SIGINT after 5 steps");
    CHECK(read->last_session().state == RunState::running);
    card.sessions.back().pid = 0x7ffffff0;  // above the largest there is
    CHECK(card.last_session().state == RunState::stopped);
    CHECK(card.last_session().ended_by == "its process ended without a word");
    CHECK(RunCard().last_session().state == RunState::stopped);

    CHECK_FALSE(read_card(folder.file("missing")));
    const std::string bad = folder.write("bad.json", "{\"sessions\":[{\"state\":\"asleep\"}]}");
    CHECK_THROWS_MESSAGE(read_card(bad), IoError, "asleep");
    CHECK_THROWS_MESSAGE(read_card(folder.write("torn.json", "{\"cau")), IoError, "torn.json");
    CHECK_THROWS_MESSAGE(read_card(folder.write("type.json", "{\"data\":5}")), IoError, "type.json");
}

TEST_CASE("without run.json the last line of the metrics says whether a run is done, whatever its limit") {
    const TemporaryFolder folder;
    const auto state = [&](const std::string& end) {
        RunRecords records = records_of(folder, line(1, "5.5") + line(2, "5.4", end));
        records.config.train.max_steps = 0;
        const StateWords words = state_words(records);
        return words.state + ": " + words.why;
    };
    CHECK(state(",\"ended_by\":\"max_time_s\"") == "done: train.max_time_s");
    CHECK(state(",\"ended_by\":\"stop\"") == "stopped: ");
    CHECK(state("") == "stopped: ");
}

TEST_CASE("a report is written as a whole, when the last one is old enough") {
    const TemporaryFolder folder;
    folder.write("metrics.jsonl", line(1, "5.5"));
    RunReport report(RunFolder{folder.path().string()}, resolved(tiny_config()));
    CHECK_FALSE(report.write_when_due(false));  // not 3 seconds since it began
    CHECK(report.write_when_due(true));
    const std::string page = content_of(folder.file("report.html"));
    CHECK(page.find("5.5000") != std::string::npos);
    CHECK_FALSE(report.write_when_due(true));  // not a hundred times what the last one took
    CHECK(page.find("train.batch_size") != std::string::npos);
    const std::string text = summary_text(report.read());
    CHECK(text.find("training loss") != std::string::npos);
    CHECK(text.find("5.5000") != std::string::npos);
}
