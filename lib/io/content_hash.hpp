#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace causeway {

/// XXH3 of 128 bits over content that comes piece by piece: detects what disks, cut-off writes and stray edits do to a
/// file, not what an attacker would. Faster than memory gives the bytes. Move-only.
class ContentHash {
  public:
    ContentHash();
    ContentHash(ContentHash&& other) noexcept;
    ContentHash& operator=(ContentHash&& other) noexcept;
    ~ContentHash();

    /// Appends. Allocates nothing.
    void add(std::span<const std::byte> bytes);
    /// Of all so far, 32 hexadecimal digits as `xxh128sum` prints them.
    std::string text() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The same of content that is there in one piece.
std::string content_hash(std::span<const std::byte> bytes);

}  // namespace causeway
