#include "io/tokenizer/text_chunks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/lfs_pointer.hpp"

namespace causeway {
namespace {

constexpr std::size_t read_ahead = 64 * 1024;  ///< in which a place to cut is expected

}  // namespace

TextChunks::TextChunks(std::vector<std::string> paths, const Tokenizer& tokenizer, Cut cut, std::size_t chunk_bytes)
    : paths_(std::move(paths)), tokenizer_(tokenizer), cut_(cut), chunk_bytes_(std::max<std::size_t>(chunk_bytes, 1)) {}

bool TextChunks::open_next() {
    if (opened_ == paths_.size()) return false;
    const std::string& path = paths_[opened_++];
    file_ = FileDescriptor(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                       : open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.is_open()) throw_file_error(path, "open", errno);
    at_end_ = false;
    first_ = true;
    lines_ = 0;
    return true;
}

/// Reads until `wanted` bytes are held; false when the file ends before.
bool TextChunks::read_more(std::size_t wanted) {
    while (!at_end_ && held_.size() < wanted) {
        const std::size_t before = held_.size();
        held_.resize(wanted);
        const ssize_t count = ::read(file_.get(), held_.data() + before, wanted - before);
        held_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count < 0 && errno != EINTR) throw_file_error(paths_[opened_ - 1], "read", errno);
        at_end_ = count == 0;
    }
    return held_.size() >= wanted;
}

/// Where the part that is held first ends: at the first place behind chunk_bytes, or at the end of the file.
std::size_t TextChunks::find_cut() {
    std::size_t from = chunk_bytes_;
    for (std::size_t wanted = chunk_bytes_ + read_ahead;; wanted = 2 * held_.size()) {
        const bool more = read_more(wanted);
        if (held_.size() > from) {
            if (cut_ == Cut::lines) {
                const std::size_t end = held_.find('\n', from - 1);
                if (end != std::string::npos) return end + 1;
            } else if (const auto cut = tokenizer_.safe_cut(held_, from)) {
                return *cut;
            }
            from = held_.size();
        }
        if (!more) return held_.size();
    }
}

std::optional<TextChunk> TextChunks::next() {
    while (held_.empty() && at_end_) {
        if (!open_next()) return std::nullopt;
        read_more(1);
    }
    TextChunk chunk;
    const std::size_t cut = find_cut();
    if (first_) refuse_lfs_pointer(paths_[opened_ - 1], held_);
    chunk.text = std::exchange(held_, held_.substr(cut));
    chunk.text.resize(cut);
    if (held_.empty()) read_more(1);
    chunk.input = opened_ - 1;
    chunk.first = std::exchange(first_, false);
    chunk.last = held_.empty();
    chunk.lines = lines_;
    if (cut_ == Cut::lines) lines_ += static_cast<std::uint64_t>(std::ranges::count(chunk.text, '\n'));
    return chunk;
}

}  // namespace causeway
