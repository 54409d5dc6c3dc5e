#include "io/safetensors_header.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/safetensors_dtype.hpp"

namespace causeway {
namespace {

using nlohmann::json;

constexpr std::size_t length_bytes = 8;  // of the header length in front of the header
constexpr std::string_view metadata_key = "__metadata__";

/// "; ..." when the first bytes show what the file really is, otherwise nothing.
std::string hint_for(std::string_view head) {
    if (head.starts_with("PK")) return "; this looks like a PyTorch or zip archive: convert it to safetensors";
    if (head.starts_with("\x80\x02") || head.starts_with("\x80\x04")) {
        return "; this looks like a Python pickle: convert it to safetensors";
    }
    if (head.starts_with("GGUF")) return "; this is a GGUF file";
    if (head.starts_with("<")) return "; this looks like a web page, perhaps an error page saved under this name";
    return "";
}

/// The JSON text, once its length has been compared with the file.
std::string_view header_text(const std::string& path, std::span<const std::byte> file) {
    const std::string_view content(reinterpret_cast<const char*>(file.data()), file.size());
    if (file.size() < length_bytes) {
        throw IoError(fmt::format("{}: not a safetensors file: it has {} bytes, the header length alone takes {}{}",
                                  path, file.size(), length_bytes, hint_for(content)));
    }
    std::uint64_t length = 0;
    static_assert(std::endian::native == std::endian::little, "safetensors are little-endian, and so is this reader");
    std::memcpy(&length, file.data(), sizeof length);
    const std::size_t left = file.size() - length_bytes;
    if (length > max_safetensors_header || length > left) {
        throw IoError(
            fmt::format("{}: not a safetensors file, or a truncated one: it declares a header of {} bytes, "
                        "{} follow and at most {} are allowed{}",
                        path, length, left, max_safetensors_header, hint_for(content)));
    }
    const std::string_view text = content.substr(length_bytes, length);
    if (!text.starts_with('{')) {
        throw IoError(fmt::format("{}: not a safetensors file: its header of {} bytes does not begin with '{{'{}", path,
                                  length, hint_for(content)));
    }
    return text;
}

/// Parses the header and refuses what a plain parse would let pass: duplicate keys and deep nesting.
json parse_json(const std::string& path, std::string_view text) {
    constexpr std::size_t max_depth = 3;  // {name: {"shape": [...]}}
    std::vector<std::unordered_set<std::string>> keys(max_depth + 1);
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
        const auto level = static_cast<std::size_t>(depth);
        if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
            if (level >= max_depth) throw IoError(fmt::format("{}: header: nested too deeply", path));
            keys[level + 1].clear();
        } else if (event == json::parse_event_t::key) {
            if (!keys[level].insert(value.get<std::string>()).second) {
                throw IoError(fmt::format("{}: header: key '{}' appears twice", path, value.get<std::string>()));
            }
        }
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::exception& error) {
        throw IoError(fmt::format("{}: header: {}", path, error.what()));
    }
}

/// Reads the declarations of one file; its methods differ only in which part they look at.
class HeaderReader {
  public:
    HeaderReader(const std::string& path, std::size_t data_start, std::size_t file_size)
        : path_(path), data_start_(data_start), data_size_(file_size - data_start) {}

    SafetensorsEntry entry(const std::string& name, const json& declared) const {
        if (!declared.is_object()) refuse(name, "is not an object");
        SafetensorsEntry entry;
        entry.name = name;
        entry.dtype = dtype(name, declared);
        entry.shape = shape(name, declared);
        const auto [begin, end] = offsets(name, declared);
        entry.offset = data_start_ + begin;
        entry.bytes = end - begin;
        const std::size_t expected = bytes_of(name, entry);
        if (entry.bytes != expected) {
            refuse(name, fmt::format("data_offsets [{}, {}] hold {} bytes, its shape and dtype {} take {}", begin, end,
                                     entry.bytes, entry.dtype, expected));
        }
        return entry;
    }

    std::map<std::string, std::string> metadata(const json& declared) const {
        if (declared.is_null()) return {};
        if (!declared.is_object()) {
            throw IoError(
                fmt::format("{}: {} must map strings to strings, found {}", path_, metadata_key, declared.type_name()));
        }
        std::map<std::string, std::string> metadata;
        for (const auto& [key, value] : declared.items()) {
            if (!value.is_string()) {
                throw IoError(fmt::format("{}: {}: '{}' must be a string, found {}", path_, metadata_key, key,
                                          value.type_name()));
            }
            metadata.emplace(key, value.get<std::string>());
        }
        return metadata;
    }

    /// Entries sorted by offset must cover the data from its start to the end of the file.
    void check_coverage(const std::vector<SafetensorsEntry>& sorted) const {
        std::size_t reached = data_start_;
        const SafetensorsEntry* previous = nullptr;
        for (const SafetensorsEntry& entry : sorted) {
            if (entry.offset != reached) {
                const std::string_view fault = entry.offset < reached ? "overlaps" : "leaves a hole after";
                refuse(entry.name,
                       fmt::format("its data begins at {} and {} {}, which ends at {}", entry.offset - data_start_,
                                   fault, previous ? fmt::format("tensor '{}'", previous->name) : "the header",
                                   reached - data_start_));
            }
            reached += entry.bytes;
            previous = &entry;
        }
        if (reached != data_start_ + data_size_) {
            throw IoError(fmt::format("{}: {} bytes follow the data of the last tensor{}", path_,
                                      data_start_ + data_size_ - reached,
                                      previous ? fmt::format(", '{}'", previous->name) : ""));
        }
    }

  private:
    [[noreturn]] void refuse(const std::string& name, std::string_view reason) const {
        throw IoError(fmt::format("{}: tensor '{}': {}", path_, name, reason));
    }

    const json& field(const std::string& name, const json& declared, const char* key) const {
        const auto found = declared.find(key);
        if (found == declared.end()) refuse(name, fmt::format("has no {}", key));
        return *found;
    }

    std::string dtype(const std::string& name, const json& declared) const {
        const json& value = field(name, declared, "dtype");
        if (!value.is_string()) refuse(name, fmt::format("dtype must be a string, found {}", value.dump()));
        if (find_safetensors_dtype(value.get_ref<const std::string&>()) == nullptr) {
            refuse(name, fmt::format("unknown dtype {}", value.dump()));
        }
        return value.get<std::string>();
    }

    std::vector<std::int64_t> shape(const std::string& name, const json& declared) const {
        const json& value = field(name, declared, "shape");
        if (!value.is_array()) refuse(name, fmt::format("shape must be an array, found {}", value.type_name()));
        std::vector<std::int64_t> shape;
        for (const json& extent : value) shape.push_back(static_cast<std::int64_t>(natural(name, "shape", extent)));
        return shape;
    }

    /// [begin, end] relative to the data start, proven to lie inside the file.
    std::pair<std::size_t, std::size_t> offsets(const std::string& name, const json& declared) const {
        const json& value = field(name, declared, "data_offsets");
        if (!value.is_array() || value.size() != 2) {
            refuse(name, fmt::format("data_offsets must be an array [begin, end], found {}",
                                     value.is_array() ? fmt::format("{} elements", value.size()) : value.type_name()));
        }
        const std::uint64_t begin = natural(name, "data_offsets", value[0]);
        const std::uint64_t end = natural(name, "data_offsets", value[1]);
        if (begin > end) refuse(name, fmt::format("data_offsets [{}, {}] end before they begin", begin, end));
        if (end > data_size_) {
            refuse(name, fmt::format("data_offsets [{}, {}] reach past the end of the file, which has {} bytes of data",
                                     begin, end, data_size_));
        }
        return {begin, end};
    }

    /// A JSON number that is a non-negative integer within 63 bits.
    std::uint64_t natural(const std::string& name, const char* key, const json& value) const {
        constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > limit) {
            refuse(name, fmt::format("{} must hold non-negative integers, found {}", key,
                                     value.is_structured() ? value.type_name() : value.dump()));
        }
        return value.get<std::uint64_t>();
    }

    std::size_t bytes_of(const std::string& name, const SafetensorsEntry& entry) const {
        std::int64_t bytes = static_cast<std::int64_t>(find_safetensors_dtype(entry.dtype)->size);
        for (std::int64_t extent : entry.shape) {
            if (__builtin_mul_overflow(bytes, extent, &bytes)) {
                refuse(name, fmt::format("its shape takes more bytes than 63 bits count (at extent {})", extent));
            }
        }
        return static_cast<std::size_t>(bytes);
    }

    const std::string& path_;
    std::size_t data_start_;
    std::size_t data_size_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& path, std::span<const std::byte> file) {
    const std::string_view text = header_text(path, file);
    const json declared = parse_json(path, text);
    const HeaderReader reader(path, length_bytes + text.size(), file.size());
    SafetensorsHeader header;
    for (const auto& [name, value] : declared.items()) {
        if (name == metadata_key) {
            header.metadata = reader.metadata(value);
        } else {
            header.tensors.push_back(reader.entry(name, value));
        }
    }
    // Empty tensors share their offset with a neighbour: they come first.
    std::sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
        return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
    });
    reader.check_coverage(header.tensors);
    return header;
}

}  // namespace causeway
