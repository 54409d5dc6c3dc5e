#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "data/token_store.hpp"

/// Tokens of a store in memory, kept as T.
template <class T>
void append_tokens_as(causeway::TokenStore& store, causeway::TokenType type, const std::vector<std::int64_t>& tokens,
                      const std::vector<std::uint8_t>& loss = {}, const std::string& origin = "memory") {
    struct Kept {
        std::vector<std::byte> bytes;
        std::vector<std::uint8_t> loss;
    };
    auto kept = std::make_shared<Kept>();
    kept->bytes.resize(1 + tokens.size() * sizeof(T));  // from 1 on: tokens need no alignment
    kept->loss = loss;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const T value = static_cast<T>(tokens[i]);
        std::memcpy(kept->bytes.data() + 1 + i * sizeof(T), &value, sizeof(T));
    }
    causeway::TokenPiece piece;
    piece.type = type;
    piece.data = kept->bytes.data() + 1;
    piece.count = static_cast<std::int64_t>(tokens.size());
    piece.loss = loss.empty() ? nullptr : kept->loss.data();
    piece.origin = origin;
    piece.owner = kept;
    store.append(std::move(piece));
}

/// Tokens first, first + 1, ..., count of them, kept as T.
template <class T>
void append_counting(causeway::TokenStore& store, causeway::TokenType type, std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < count; ++i) tokens.push_back(first + i);
    append_tokens_as<T>(store, type, tokens);
}

/// Documents of these lengths whose tokens count through from 0, uint16.
inline std::shared_ptr<const causeway::TokenStore> store_of_documents(const std::vector<std::int64_t>& lengths) {
    auto store = std::make_shared<causeway::TokenStore>(1 << 16);
    for (const std::int64_t length : lengths) {
        store->begin_document();
        append_counting<std::uint16_t>(*store, causeway::TokenType::uint16, store->size(), length);
    }
    return store;
}
