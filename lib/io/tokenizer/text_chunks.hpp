#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/file_descriptor.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// A part of a file that can be encoded by itself.
struct TextChunk {
    std::string text;
    std::size_t input = 0;    ///< which of the files
    bool first = false;       ///< the file begins here
    bool last = false;        ///< the file ends here
    std::uint64_t lines = 0;  ///< of the file before this part; counted with Cut::lines only
};

/// Reads files one after the other in parts of about the same size: text that is cut where the tokenizer says that it
/// may be, or whole lines. A text with no such place is one part, however long.
class TextChunks {
  public:
    enum class Cut { safe, lines };

    /// "-" is standard input. Files are opened when their turn comes.
    TextChunks(std::vector<std::string> paths, const Tokenizer& tokenizer, Cut cut, std::size_t chunk_bytes);

    /// The next part; none at the end. A file without content gives none. Throws IoError.
    std::optional<TextChunk> next();

  private:
    bool open_next();
    bool read_more(std::size_t wanted);
    std::size_t find_cut();

    std::vector<std::string> paths_;
    const Tokenizer& tokenizer_;
    Cut cut_;
    std::size_t chunk_bytes_;
    std::size_t opened_ = 0;  ///< files opened so far
    FileDescriptor file_;
    std::string held_;  ///< read, and not given out
    bool at_end_ = true, first_ = true;
    std::uint64_t lines_ = 0;
};

}  // namespace causeway
