#include "io/content_hash.hpp"

// The header alone: nothing of libxxhash is linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/format.hpp"

namespace causeway {
namespace {

std::string text_of(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

struct ContentHash::State {
    XXH3_state_t xxh3;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {
    XXH3_INITSTATE(&state_->xxh3);
    XXH3_128bits_reset(&state_->xxh3);
}
ContentHash::ContentHash(ContentHash&& other) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&& other) noexcept = default;
ContentHash::~ContentHash() = default;

void ContentHash::add(std::span<const std::byte> bytes) {
    if (!bytes.empty()) XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::string ContentHash::text() const { return text_of(XXH3_128bits_digest(&state_->xxh3)); }

std::string content_hash(std::span<const std::byte> bytes) { return text_of(XXH3_128bits(bytes.data(), bytes.size())); }

}  // namespace causeway
