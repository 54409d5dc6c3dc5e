#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "causeway/error.hpp"
#include "io/append_file.hpp"
#include "io/atomic_file.hpp"
#include "io/mapped_file.hpp"
#include "io/temporary_name.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

std::size_t files_in(const TemporaryFolder& folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++count;
    return count;
}

/// Files longer than `bytes` cannot be written in this scope, as if the disk were full.
class SmallDisk {
  public:
    explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit small{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int);
};

}  // namespace

TEST_CASE("a mapped file holds the file's bytes") {
    const TemporaryFolder folder;
    const std::string content("one\0two\r\n\xff", 10);
    MappedFile file(folder.write("text", content));
    CHECK(file.text() == content);
    const MappedFile moved(std::move(file));
    CHECK(moved.text() == content);
    CHECK(moved.path() == folder.file("text"));
}

TEST_CASE("an empty file maps to no bytes") {
    const TemporaryFolder folder;
    const MappedFile file(folder.write("empty", ""));
    CHECK(file.size() == 0);
    CHECK(file.bytes().empty());
}

TEST_CASE("B70: a file that cannot be mapped is refused with path and reason") {
    const TemporaryFolder folder;
    const std::string missing = folder.file("missing.txt");
    CHECK_THROWS_MESSAGE(MappedFile(missing), IoError, missing + ": cannot open: No such file or directory");
    CHECK_THROWS_MESSAGE(MappedFile(folder.path()), IoError, folder.path().string() + ": is a directory");
    const std::string pipe = folder.file("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_MESSAGE(MappedFile(pipe), IoError, "is not a regular file");
    CHECK_THROWS_MESSAGE(MappedFile(""), IoError, "cannot open");
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
    CHECK_THROWS_MESSAGE(MappedFile(folder.write("a.bin", pointer)), IoError,
                         "a.bin: is a Git LFS pointer, not the file: fetch it with `git lfs pull`");
    CHECK(MappedFile(folder.write("about.txt", pointer + std::string(1000, '.'))).size() == pointer.size() + 1000);
}

TEST_CASE("an atomic file replaces the old one only when it is committed") {
    const TemporaryFolder folder;
    const std::string path = folder.write("config.json", "old");
    {
        AtomicFile abandoned(path);
        abandoned.write(std::as_bytes(std::span(std::string_view("half"))));
        CHECK(content_of(path) == "old");
        CHECK(files_in(folder) == 2);
    }
    CHECK(files_in(folder) == 1);
    CHECK(content_of(path) == "old");

    write_text_atomically(path, "new\n");
    CHECK(content_of(path) == "new\n");
    write_text_atomically(folder.file("second"), "");
    CHECK(content_of(folder.file("second")).empty());
    CHECK(files_in(folder) == 2);
}

TEST_CASE("an atomically written file has an ordinary file's mode") {
    const TemporaryFolder folder;
    write_text_atomically(folder.file("atomic"), "x");
    folder.write("plain", "x");
    struct stat atomic {
    }, plain{};
    REQUIRE(stat(folder.file("atomic").c_str(), &atomic) == 0);
    REQUIRE(stat(folder.file("plain").c_str(), &plain) == 0);
    CHECK((atomic.st_mode & 0777) == (plain.st_mode & 0777));
}

TEST_CASE("B63: a write that fails leaves the old file and no temporary one") {
    const TemporaryFolder folder;
    const std::string path = folder.write("model", "old");
    {
        const SmallDisk disk(4096);
        CHECK_THROWS_MESSAGE(write_text_atomically(path, std::string(10'000, 'x')), IoError,
                             path + ": cannot write: File too large");
    }
    CHECK(content_of(path) == "old");
    CHECK(files_in(folder) == 1);

    CHECK_THROWS_MESSAGE(write_text_atomically(folder.file("no/such/file"), "x"), IoError,
                         "no/such/file: cannot create a file beside it: No such file or directory");
    std::filesystem::create_directory(folder.path() / "taken");
    CHECK_THROWS_MESSAGE(write_text_atomically(folder.file("taken"), "x"), IoError,
                         "taken: cannot write: Is a directory");
    CHECK(files_in(folder) == 2);
}

TEST_CASE("writers of one path at once leave one whole content") {
    const TemporaryFolder folder;
    const std::string path = folder.file("shared");
    std::vector<std::thread> writers;
    for (char letter : {'a', 'b', 'c', 'd'}) {
        writers.emplace_back([&path, letter] {
            for (int i = 0; i < 10; ++i) write_text_atomically(path, std::string(5000, letter));
        });
    }
    for (std::thread& writer : writers) writer.join();
    const std::string content = content_of(path);
    REQUIRE(content.size() == 5000);
    CHECK(content == std::string(5000, content[0]));
    CHECK(files_in(folder) == 1);
}

TEST_CASE("a replaced file keeps its permissions, and a link leads to the new one") {
    const TemporaryFolder folder;
    const std::string path = folder.write("file", "old"), link = folder.file("link"), next = folder.file("next");
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    std::filesystem::create_symlink("file", link);
    std::filesystem::create_symlink(link, next);
    write_text_atomically(next, "new");
    CHECK(std::filesystem::is_symlink(next));
    CHECK(std::filesystem::is_symlink(link));
    CHECK(content_of(path) == "new");
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
    CHECK(files_in(folder) == 3);

    const std::string dangling = folder.file("dangling"), loop = folder.file("loop");
    std::filesystem::create_symlink("made", dangling);
    write_text_atomically(dangling, "here");
    CHECK(content_of(folder.file("made")) == "here");
    std::filesystem::create_symlink("loop", loop);
    CHECK_THROWS_MESSAGE(AtomicFile(loop), IoError, loop + ": cannot follow the link");
}

TEST_CASE("two names of one file are known as such, whether it is there or not") {
    const TemporaryFolder folder;
    const std::string file = folder.write("there", ""), missing = folder.file("run/metrics.jsonl");
    std::filesystem::create_hard_link(file, folder.file("hard"));
    std::filesystem::create_symlink("run/metrics.jsonl", folder.file("soft"));
    CHECK(lead_to_same_file(file, folder.file("hard")));
    CHECK(lead_to_same_file(missing, folder.file("soft")));
    CHECK(lead_to_same_file(missing, folder.file("run/../run//metrics.jsonl")));
    CHECK(lead_to_same_file("no/such", "./no/./such"));
    CHECK(lead_to_same_file("no/such", (std::filesystem::current_path() / "no/such").string()));
    CHECK(!lead_to_same_file(missing, file));
    CHECK(!lead_to_same_file(missing, folder.file("metrics.jsonl")));
}

TEST_CASE("what is no regular file is written into") {
    const TemporaryFolder folder;
    write_text_atomically("/dev/null", "nothing");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    CHECK_THROWS_MESSAGE(write_text_atomically("/dev/full", "x"), IoError,
                         "/dev/full: cannot write: No space left on device");
    const std::string fifo = folder.file("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    check_can_write(fifo);  // does not wait for a reader
    std::string received;
    std::thread reader([&] { received = content_of(fifo); });
    write_text_atomically(fifo, "through");
    reader.join();
    CHECK(received == "through");
    CHECK(std::filesystem::is_fifo(fifo));

    int ends[2];
    REQUIRE(pipe(ends) == 0);
    write_text_atomically("/dev/fd/" + std::to_string(ends[1]), "open");
    char text[4];
    REQUIRE(read(ends[0], text, sizeof text) == 4);
    CHECK(std::string(text, 4) == "open");
    for (const int end : ends) close(end);
    CHECK_THROWS_MESSAGE(AtomicFile("/dev/fd/987654"), IoError, "/dev/fd/987654: cannot open for writing");
}

TEST_CASE("a folder and an empty name are refused as files to write") {
    const TemporaryFolder folder;
    CHECK_THROWS_MESSAGE(AtomicFile(folder.path()), IoError, "cannot write: Is a directory");
    CHECK_THROWS_MESSAGE(AtomicFile(""), IoError, "the name of a file to write is empty");
    CHECK_THROWS_MESSAGE(check_can_write(folder.file("no/such")), IoError, "no/such");
    const std::string path = folder.write("file", "old");
    check_can_write(path);
    CHECK(content_of(path) == "old");
    CHECK(files_in(folder) == 1);
}

TEST_CASE("unfinished files are removed when their process is gone, and no others") {
    const TemporaryFolder folder;
    const pid_t gone = fork();
    if (gone == 0) _exit(0);
    REQUIRE(waitpid(gone, nullptr, 0) == gone);
    const std::string dead = "model.tmp-" + std::to_string(gone) + "-0";
    const std::string alive = "model.tmp-" + std::to_string(getppid()) + "-0";
    for (const std::string& name : {dead, alive}) CHECK(is_temporary_name(name));
    const std::vector<std::string> others{"model.tmp-x-0", "model.tmp-0-1", "model.tmp-" + std::to_string(gone),
                                          "model", dead + "x"};
    for (const std::string& name : others) CHECK(!is_temporary_name(name));
    folder.write(dead, "");
    folder.write(alive, "");
    for (const std::string& name : others) folder.write(name, "");
    remove_abandoned(folder.path());
    CHECK(!std::filesystem::exists(folder.file(dead)));
    CHECK(files_in(folder) == 1 + others.size());
    remove_abandoned(folder.file("no/such"));
}

TEST_CASE("B63: a file that is written anew takes away what killed processes left of it, and nothing else") {
    const TemporaryFolder folder;
    const pid_t gone = fork();
    if (gone == 0) _exit(0);
    REQUIRE(waitpid(gone, nullptr, 0) == gone);
    const std::string path = folder.file("ids.bin"), dead = ".tmp-" + std::to_string(gone) + "-0";
    const std::string before_us = ".tmp-" + std::to_string(getpid()) + "-1000000";
    const std::string alive = ".tmp-" + std::to_string(getppid()) + "-0";
    for (const std::string& left : {dead, before_us, alive}) folder.write("ids.bin" + left, "half");
    folder.write("other.bin" + dead, "half");
    AtomicFile first(path);  // two at once, as threads may
    AtomicFile second(path);
    CHECK(!std::filesystem::exists(path + dead));
    CHECK(!std::filesystem::exists(path + before_us));
    CHECK(files_in(folder) == 4);
    first.commit();
    second.commit();
    CHECK(std::filesystem::exists(path + alive));
    CHECK(std::filesystem::exists(folder.file("other.bin" + dead)));
    CHECK(files_in(folder) == 3);
}

TEST_CASE("lines are in the file as soon as they are written") {
    const TemporaryFolder folder;
    const std::string path = folder.write("metrics.jsonl", "stale\n");
    {
        AppendFile lines(path, AppendFile::Mode::truncate);
        CHECK(content_of(path).empty());
        lines.write_line(R"({"step": 1})");
        CHECK(content_of(path) == "{\"step\": 1}\n");
        lines.write_line("");
        CHECK(content_of(path) == "{\"step\": 1}\n\n");
    }
    AppendFile more(path, AppendFile::Mode::append);
    more.write_line("last");
    CHECK(content_of(path) == "{\"step\": 1}\n\nlast\n");
}

TEST_CASE("B63: a line that does not fit is an error and leaves whole lines only") {
    const TemporaryFolder folder;
    const std::string path = folder.file("metrics.jsonl");
    AppendFile lines(path, AppendFile::Mode::truncate);
    lines.write_line(std::string(60, 'a'));
    {
        const SmallDisk disk(100);
        CHECK_THROWS_MESSAGE(lines.write_line(std::string(60, 'b')), IoError, path + ": cannot write: File too large");
    }
    CHECK(content_of(path) == std::string(60, 'a') + "\n");
    lines.write_line("c");
    CHECK(content_of(path) == std::string(60, 'a') + "\nc\n");

    AppendFile full("/dev/full", AppendFile::Mode::append);
    CHECK_THROWS_MESSAGE(full.write_line("x"), IoError, "/dev/full: cannot write: No space left on device");
    CHECK_THROWS_MESSAGE(AppendFile(folder.path(), AppendFile::Mode::append), IoError, "cannot open for writing");
}
