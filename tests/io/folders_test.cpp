#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <span>

#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/atomic_folder.hpp"
#include "io/content_hash.hpp"
#include "io/folder_lock.hpp"
#include "io/mapped_file.hpp"
#include "io/temporary_name.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
namespace fs = std::filesystem;

namespace {

std::size_t entries_in(const TemporaryFolder& folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++count;
    return count;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("a content's hash is XXH3's, in one piece or many") {
    // From the reference implementation, `printf '' | xxh128sum`.
    CHECK(content_hash({}) == "99aa06d3014798d86001c324468d497f");
    std::string text;
    for (int i = 0; i < 5000; ++i) text.push_back(static_cast<char>(i * 7));
    ContentHash hash;
    for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size % 97 + 1) {
        hash.add(bytes_of(text.substr(at, size)));
    }
    CHECK(hash.text() == content_hash(bytes_of(text)));
    text[3000] ^= 1;
    CHECK(hash.text() != content_hash(bytes_of(text)));
}

TEST_CASE("a file that was written knows its hash") {
    const TemporaryFolder folder;
    const std::string hash = write_text_atomically(folder.file("a"), "some text");
    CHECK(hash == content_hash(MappedFile(folder.file("a")).bytes()));
}

TEST_CASE("a folder appears as a whole, in the place of an older one") {
    const TemporaryFolder folder;
    const std::string path = folder.file("whole");
    for (const std::string content : {"old", "new"}) {
        AtomicFolder made(path);
        write_text_atomically(made.path() + "/a", content);
        if (content == "old") CHECK(!fs::exists(path));
        made.commit();
        CHECK(content_of(path + "/a") == content);
    }
    CHECK(entries_in(folder) == 1);
    { const AtomicFolder given_up(path); }
    CHECK(content_of(path + "/a") == "new");
    CHECK(entries_in(folder) == 1);
    CHECK_THROWS_MESSAGE(AtomicFolder(folder.file("no/such")), IoError, "no/such: cannot create a folder beside it: ");
}

TEST_CASE("a folder is removed, and what was left unfinished") {
    const TemporaryFolder folder;
    folder.write("whole/a", "x");
    folder.write("whole/deep/b", "x");
    remove_folder(folder.file("whole"));
    CHECK(entries_in(folder) == 0);
    CHECK_THROWS_MESSAGE(remove_folder(folder.file("whole")), IoError, "cannot remove: No such file");
    folder.write("step.tmp-1-0/a", "x");  // process 1 exists
    folder.write("step.tmp-" + std::to_string(getpid()) + "-0/a", "x");
    folder.write("step", "x");
    remove_abandoned(folder.path());
    CHECK(entries_in(folder) == 2);
    remove_unfinished(folder.path());
    CHECK(entries_in(folder) == 1);
}

TEST_CASE("a folder's lock keeps others out, and ends with its owner") {
    const TemporaryFolder folder;
    const std::string path = folder.path().string();
    const auto lock_elsewhere = [&] {
        const pid_t process = fork();
        if (process == 0) {
            try {
                const FolderLock lock(path);
                _exit(0);
            } catch (const IoError&) {
                _exit(1);
            }
        }
        int status = 0;
        waitpid(process, &status, 0);
        return WEXITSTATUS(status) == 0;
    };
    {
        const FolderLock lock(path);
        CHECK(!lock_elsewhere());
        CHECK_THROWS_MESSAGE(FolderLock(path), IoError, "another process is training in this folder");
    }
    CHECK(lock_elsewhere());
    const FolderLock again(path);
    CHECK(entries_in(folder) == 0);
    CHECK_THROWS_MESSAGE(FolderLock(folder.file("none")), IoError, "none: cannot open");
}

TEST_CASE("a link replaces a file, also by itself") {
    const TemporaryFolder folder;
    const std::string one = folder.write("one", "1"), two = folder.write("two", "2"), name = folder.file("name");
    link_atomically(one, name);
    CHECK(fs::equivalent(one, name));
    link_atomically(two, name);
    link_atomically(two, name);
    CHECK(fs::equivalent(two, name));
    CHECK(content_of(one) == "1");
    CHECK(entries_in(folder) == 3);
    CHECK_THROWS_MESSAGE(link_atomically(folder.file("none"), name), IoError, "none: cannot open");
}

TEST_CASE("a mapped file that became shorter is noticed, one that was replaced is not missed") {
    const TemporaryFolder folder;
    const std::string path = folder.write("text", std::string(100, 'x'));
    const MappedFile file(path);
    file.check_length();
    fs::resize_file(path, 200);
    file.check_length();
    fs::resize_file(path, 99);
    CHECK_THROWS_MESSAGE(file.check_length(), IoError,
                         "text: has become shorter while it was being read: found 99 bytes, expected 100");
    fs::remove(path);
    file.check_length();
    folder.write("text", "");
    file.check_length();
    MappedFile().check_length();
}
