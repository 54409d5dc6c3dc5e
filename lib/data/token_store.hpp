#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway {

class MappedFile;

/// Consecutive tokens in memory: of a mapped file, or made while a file was opened.
struct TokenPiece {
    TokenType type = TokenType::uint8;  ///< how each is stored, little-endian; never automatic
    const std::byte* data = nullptr;    ///< need not be aligned
    std::int64_t count = 0;
    const std::uint8_t* loss = nullptr;  ///< (count): 0 where predicting the token is not learned; null: all are
    std::string origin;                  ///< the file, for messages
    std::shared_ptr<const void> owner;   ///< keeps data and loss alive
    const MappedFile* file = nullptr;    ///< where data are a file's, whose length others can change
};

/// The tokens of a data set: pieces of any widths, counted through as if they were one sequence, and where its
/// documents begin when they are known. Filled once, then read by any number of threads.
class TokenStore {
  public:
    /// `vocab_size` is what every token must be below when it is read.
    explicit TokenStore(std::int64_t vocab_size) : vocab_size_(vocab_size) {}

    /// Empty pieces leave no trace.
    void append(TokenPiece piece);
    /// A document begins with the next token appended `ahead` tokens from here.
    void begin_document(std::int64_t ahead = 0) { documents_.push_back(size() + ahead); }

    std::int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
    /// Where documents begin, ascending; empty when nobody said.
    std::span<const std::int64_t> documents() const { return documents_; }

    /// Writes tokens first .. first+out.size()-1, which must exist, to `out`. Allocates nothing.
    /// Throws DataError, naming file, value and position, for a token outside [0, vocab_size). O(n + log pieces).
    void copy(std::int64_t first, std::span<std::int32_t> out) const;
    /// The same, with ignore_index for tokens that carry no loss.
    void copy_targets(std::int64_t first, std::span<std::int32_t> out) const;

    /// See BatchSource::check_files.
    void check_files() const;

  private:
    template <class Each>
    void for_pieces(std::int64_t first, std::int64_t count, const Each& each) const;

    std::int64_t vocab_size_;
    std::vector<TokenPiece> pieces_;
    std::vector<std::int64_t> ends_;  ///< of each piece, counted through
    std::vector<std::int64_t> documents_;
    bool masked_ = false;  ///< some tokens carry no loss
};

/// A part of a store: `size` tokens from `first` on, or whole documents [first_document, first_document + documents).
struct TokenPart {
    std::shared_ptr<const TokenStore> store;
    std::int64_t first = 0, size = 0;
    std::int64_t first_document = 0, documents = 0;

    void check_files() const { store->check_files(); }
    void copy(std::int64_t at, std::span<std::int32_t> out) const { store->copy(first + at, out); }
    void copy_targets(std::int64_t at, std::span<std::int32_t> out) const { store->copy_targets(first + at, out); }
};

/// A store for training and for validation.
struct TokenSplit {
    TokenPart train, validation;
};

/// All of a store.
TokenPart whole(std::shared_ptr<const TokenStore> store);

/// By position: the first floor((1 - validation_fraction) * n) of n tokens are for training, the rest for validation.
TokenSplit split_tokens(std::shared_ptr<const TokenStore> store, double validation_fraction);

/// The same with n documents.
TokenSplit split_documents(std::shared_ptr<const TokenStore> store, double validation_fraction);

}  // namespace causeway
