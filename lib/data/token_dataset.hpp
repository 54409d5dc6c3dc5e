#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/mapped_file.hpp"

namespace causeway {

/// Consecutive tokens in memory that somebody else owns, one byte each.
class TokenSpan {
  public:
    TokenSpan() = default;
    explicit TokenSpan(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
    /// Writes tokens first .. first+out.size()-1 to `out`. They must exist.
    void copy(std::int64_t first, std::span<std::int32_t> out) const;
    TokenSpan subspan(std::int64_t first, std::int64_t count) const {
        return TokenSpan(bytes_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    }

  private:
    std::span<const std::byte> bytes_;
};

/// Writes the window of out.size() tokens that begins at `start`, and its targets, the tokens one further. The window
/// takes inputs.size() + 1 tokens. inputs (T), targets (T).
void copy_window(const TokenSpan& tokens, std::int64_t start, std::span<std::int32_t> inputs,
                 std::span<std::int32_t> targets);

/// A text file as tokens, one per byte, split by position: the first floor((1 - validation_fraction) * n) tokens are
/// for training, the rest for validation. The file is mapped, never loaded whole.
class TokenDataset {
  public:
    /// Throws IoError for the file, DataError when a byte is outside the vocabulary (looked for below 256 only).
    TokenDataset(const std::string& path, double validation_fraction, std::int64_t vocab_size);

    const std::string& path() const { return file_.path(); }
    /// See BatchSource::check_files.
    void check_files() const { file_.check_length(); }
    TokenSpan train() const { return train_; }
    TokenSpan validation() const { return validation_; }

  private:
    MappedFile file_;
    TokenSpan train_;
    TokenSpan validation_;
};

}  // namespace causeway
