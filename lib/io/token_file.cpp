#include "io/token_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/llmc_tokens.hpp"
#include "io/npy_header.hpp"

namespace causeway {
namespace {

struct TypeFacts {
    std::string_view name;   ///< in configs
    std::string_view descr;  ///< in .npy
    std::size_t width;
};

/// In the order of TokenType.
constexpr std::array<TypeFacts, 6> types{TypeFacts{"auto", "", 0},      TypeFacts{"uint8", "|u1", 1},
                                         TypeFacts{"uint16", "<u2", 2}, TypeFacts{"uint32", "<u4", 4},
                                         TypeFacts{"int32", "<i4", 4},  TypeFacts{"int64", "<i8", 8}};

const TypeFacts& facts_of(TokenType type) { return types.at(static_cast<std::size_t>(type)); }

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
    throw IoError(fmt::format("{}: {}", path, why));
}

std::int32_t int_at(std::span<const std::byte> file, std::size_t index) {
    std::int32_t value = 0;
    std::memcpy(&value, file.data() + index * sizeof value, sizeof value);
    return value;
}

const LlmcTokens* find_llmc_kind(std::span<const std::byte> file) {
    if (file.size() < sizeof(std::int32_t)) return nullptr;
    const auto found = std::ranges::find(llmc_token_kinds, int_at(file, 0), &LlmcTokens::magic);
    return found == llmc_token_kinds.end() ? nullptr : &*found;
}

TokenLayout llmc_layout(const std::string& path, std::span<const std::byte> file, const LlmcTokens& kind) {
    if (file.size() < llmc_header_bytes) {
        refuse(path, fmt::format("has {} bytes and ends inside its header of llm.c, which takes {}", file.size(),
                                 llmc_header_bytes));
    }
    const std::int32_t version = int_at(file, 1), count = int_at(file, 2);
    if (version != kind.version) {
        refuse(path, fmt::format("its header of llm.c has version {} at offset 4, expected {} with number {}", version,
                                 kind.version, kind.magic));
    }
    const std::size_t found = file.size() - llmc_header_bytes;
    if (count < 0 || static_cast<std::size_t>(count) * width_of(kind.type) != found) {
        refuse(path, fmt::format("its header says {} tokens of {} at offset 8, but {} bytes follow it", count,
                                 name_of(kind.type), found));
    }
    return {kind.type, llmc_header_bytes, count};
}

TokenLayout npy_layout(const std::string& path, std::span<const std::byte> file) {
    const NpyHeader header = parse_npy_header(path, file);
    const auto found = std::ranges::find(types, header.descr, &TypeFacts::descr);
    if (header.descr.empty() || found == types.end()) {
        refuse(path, fmt::format("dtype '{}' holds no tokens, expected |u1, <u2, <u4, <i4 or <i8", header.descr));
    }
    if (header.fortran_order && header.shape.size() > 1) {
        refuse(path, "is in Fortran order, expected C order (numpy.ascontiguousarray)");
    }
    const std::size_t bytes = file.size() - header.offset;
    if (header.bytes(found->width) != bytes) {
        refuse(path, fmt::format("the shape ({}) of {} does not take the {} bytes that follow the header",
                                 fmt::join(header.shape, ", "), header.descr, bytes));
    }
    return {static_cast<TokenType>(found - types.begin()), header.offset,
            static_cast<std::int64_t>(bytes / found->width)};
}

/// What a file says of itself; nothing for plain numbers.
std::optional<TokenLayout> stated_layout(const std::string& path, std::span<const std::byte> file) {
    if (looks_like_npy(file)) return npy_layout(path, file);
    if (const LlmcTokens* kind = find_llmc_kind(file)) return llmc_layout(path, file, *kind);
    return std::nullopt;
}

TokenLayout plain_layout(const std::string& path, std::span<const std::byte> file, TokenType wanted) {
    if (wanted == TokenType::automatic && !path.ends_with(".bin")) {
        refuse(path, "is neither .npy nor .bin: say what its numbers are with data.token_type");
    }
    const TokenType type = wanted == TokenType::automatic ? TokenType::uint16 : wanted;
    const std::size_t width = width_of(type);
    if (file.size() % width != 0) {
        refuse(path, fmt::format("has {} bytes, which is no whole number of {} tokens: {} left over at offset {}",
                                 file.size(), name_of(type), file.size() % width, file.size() / width * width));
    }
    return {type, 0, static_cast<std::int64_t>(file.size() / width)};
}

}  // namespace

std::size_t width_of(TokenType type) { return facts_of(type).width; }
std::string_view name_of(TokenType type) { return facts_of(type).name; }

TokenLayout find_token_layout(const std::string& path, std::span<const std::byte> file, TokenType wanted) {
    if (file.empty()) refuse(path, "is empty, expected tokens");
    const std::optional<TokenLayout> stated = stated_layout(path, file);
    if (stated && wanted != TokenType::automatic && wanted != stated->type) {
        refuse(path,
               fmt::format("its header says {}, data.token_type says {}", name_of(stated->type), name_of(wanted)));
    }
    const TokenLayout layout = stated ? *stated : plain_layout(path, file, wanted);
    if (layout.count == 0) refuse(path, "has a header but no tokens");
    return layout;
}

TokenFile::TokenFile(const std::string& path, TokenType wanted)
    : file_(path), layout_(find_token_layout(path, file_.bytes(), wanted)) {}

}  // namespace causeway
