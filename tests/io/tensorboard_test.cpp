#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "causeway/error.hpp"
#include "io/tensorboard/event_file.hpp"
#include "io/tensorboard/record.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
using namespace causeway::tensorboard;

namespace {

/// The payloads of a file; fails where a length or checksum is wrong.
std::vector<std::string> payloads(const std::string& bytes) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < bytes.size();) {
        std::uint64_t size = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            size |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes.at(at + i))) << (8 * i);
        }
        const std::string payload = bytes.substr(at + 12, size);
        REQUIRE(record(payload) == bytes.substr(at, size + 16));
        found.push_back(payload);
        at += size + 16;
    }
    return found;
}

}  // namespace

TEST_CASE("CRC-32C has the values of RFC 3720") {
    CHECK(crc32c("") == 0);
    CHECK(crc32c("123456789") == 0xe3069283);
    CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
    CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
}

TEST_CASE("events have the bytes that TensorBoard's own writer makes of the same values") {
    // Made by tools/check_tensorboard.py --golden.
    const std::array<Scalar, 3> scalars{
        {{"loss", 5.5625}, {"learning_rate", 9.9e-06}, {"grad_norm", std::numeric_limits<double>::infinity()}}};
    const std::string made = record(version_event(1700000000.25)) + record(start_event(1700000001.0, 1)) +
                             record(scalar_event(1700000001.5, 1, scalars)) +
                             record(text_event(1700000002.0, 300000, "sample", "    And God said\n    «é»"));
    CHECK(made == content_of(std::string(CAUSEWAY_TESTS_DIR) + "/golden/events.tfevents"));
}

TEST_CASE("an event file is whole after each write, and the next one has another name") {
    const TemporaryFolder folder;
    const std::string events = folder.file("run/tensorboard");
    EventFile file(events);
    CHECK(payloads(content_of(file.path())).size() == 1);
    file.write_scalars(7, std::array<Scalar, 2>{{{"loss", 1.5}, {"nan", std::nan("")}}});
    file.write_text(8, "sample", "text");
    file.write_start(8);
    const auto found = payloads(content_of(file.path()));
    REQUIRE(found.size() == 4);
    CHECK(found[0].find("brain.Event:2") != std::string::npos);
    CHECK(found[2].find("text") != std::string::npos);

    const EventFile second(events);
    CHECK(second.path() != file.path());
    CHECK(std::filesystem::path(second.path()).filename().string().starts_with("events.out.tfevents."));
}

TEST_CASE("an event file that cannot be made names its path") {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "x");
    CHECK_THROWS_MESSAGE(EventFile(file), IoError, file);
}
