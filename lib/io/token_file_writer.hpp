#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/atomic_file.hpp"

namespace causeway {

/// How token ids are written: nanoGPT's numbers of 16 bits without header, llm.c's with one (numbers of 32 bits for
/// vocabularies beyond 65536), a NumPy array of one dimension (u2 or u4).
enum class TokenFormat { nanogpt, llmc, npy };

/// Writes files of token ids, each atomically, in pieces of whatever length. Files may be larger than memory.
class TokenFileWriter {
  public:
    /// With `shard_tokens` above 0 a new file begins after every so many: X_000000.bin, X_000001.bin, ... for X.bin.
    /// Ids are in [0, vocab_size). No file of `read` is ever replaced. Throws ConfigError when the format has no room
    /// for them, IoError for the file.
    TokenFileWriter(const std::string& path, TokenFormat format, std::int64_t vocab_size, std::int64_t shard_tokens = 0,
                    std::vector<std::string> read = {});

    /// Appends ids. Throws DataError for one outside the vocabulary, IoError; files that were complete stay.
    void write(std::span<const std::int32_t> ids);

    /// Completes the last file. Nothing of it is there before. Throws IoError.
    void finish();

    /// Those that are complete.
    const std::vector<std::string>& files() const { return files_; }
    /// Once finished: the shard that follows the last one, of an earlier and longer series. Whoever reads the series
    /// by a pattern would read it too. Empty when there is none.
    std::string shard_beyond() const;

  private:
    std::string next_path() const;
    void open();
    void close();
    std::string header(std::int64_t tokens) const;

    std::string path_;
    TokenFormat format_;
    std::int64_t vocab_size_;
    std::int64_t shard_tokens_;
    std::vector<std::string> read_;
    std::size_t width_;  ///< bytes of an id
    std::unique_ptr<AtomicFile> file_;
    std::int64_t written_ = 0;  ///< ids in it
    std::vector<char> buffer_;
    std::vector<std::string> files_;
};

}  // namespace causeway
