#include "io/run_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/safetensors.hpp"

namespace causeway {
namespace {

bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

/// What keeps a tensor from being read, empty when nothing does.
std::string trouble(const SafetensorsFile& file, const NamedTensor& wanted) {
    const SafetensorsEntry* entry = file.find(wanted.name);
    const std::string expected = to_string(wanted.view.desc.shape);
    if (entry == nullptr) return fmt::format("{}: missing, expected {}", wanted.name, expected);
    const auto extents = wanted.view.desc.shape.extents();
    if (!std::equal(extents.begin(), extents.end(), entry->shape.begin(), entry->shape.end())) {
        return fmt::format("{}: the file has {}, expected {}", wanted.name, shape_text(entry->shape), expected);
    }
    if (entry->dtype != "F32" && entry->dtype != "F64") {
        return fmt::format("{}: the file has dtype {}, expected F32 or F64", wanted.name, entry->dtype);
    }
    return "";
}

void check_all(const SafetensorsFile& file, std::span<const NamedTensor> tensors) {
    std::string report;
    std::size_t count = 0;
    for (const NamedTensor& tensor : tensors) {
        const std::string line = trouble(file, tensor);
        if (line.empty()) continue;
        report += "\n  " + line;
        ++count;
    }
    if (count > 0) {
        throw IoError(
            fmt::format("{}: {} of {} tensors do not fit the model:{}", file.path(), count, tensors.size(), report));
    }
}

/// The file's bytes need no alignment.
template <class From>
From element(std::span<const std::byte> bytes, std::size_t i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    return value;
}

template <class From, class To>
void convert(std::span<const std::byte> bytes, To* out) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(From); ++i) out[i] = static_cast<To>(element<From>(bytes, i));
}

template <class From>
void check_finite(const std::string& path, const std::string& name, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
        const auto value = static_cast<double>(element<From>(bytes, i));
        if (std::isfinite(value)) continue;
        throw NumericError(fmt::format("{}: element {} of '{}' is {}, expected a finite number", path, i, name, value));
    }
}

void read(const FileTensor& from, const TensorView& to) {
    const bool wide = from.desc.dtype == DType::f64;
    if (to.desc.dtype == DType::f64) {
        wide ? convert<double>(from.bytes, to.as<double>()) : convert<float>(from.bytes, to.as<double>());
    } else {
        wide ? convert<double>(from.bytes, to.as<float>()) : convert<float>(from.bytes, to.as<float>());
    }
}

void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw IoError(fmt::format("{}: cannot make the folder: {}", folder, error.message()));
}

}  // namespace

void save_run(const RunFolder& run, const Config& config, std::span<const NamedTensor> parameters) {
    std::vector<TensorToWrite> tensors;
    for (const NamedTensor& tensor : parameters) tensors.push_back({tensor.name, tensor.view.desc, tensor.view.data});
    make_folder(run.folder);
    write_text_atomically(run.config(), to_json(config));
    write_safetensors(run.parameters(), tensors);
}

Config load_run(const RunFolder& run, const std::vector<std::string>& overrides) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(run.folder, ignored)) {
        throw IoError(fmt::format("{}: is not the folder of a run: there is no such folder", run.folder));
    }
    if (!std::filesystem::exists(run.config(), ignored)) {
        throw IoError(fmt::format("{}: is not the folder of a run: it has no config.json", run.folder));
    }
    return load_config(run.config(), overrides);
}

std::vector<std::string> load_parameters(const std::string& path, std::span<const NamedTensor> tensors) {
    const SafetensorsFile file(path);
    for (const NamedTensor& tensor : tensors) {
        if (!is_real(tensor.view.desc.dtype)) {
            throw IoError(fmt::format("{}: cannot read '{}' into {}, only into f32 or f64", path, tensor.name,
                                      to_string(tensor.view.desc.dtype)));
        }
    }
    check_all(file, tensors);
    for (const NamedTensor& tensor : tensors) {
        const FileTensor stored = file.view(tensor.name);
        const auto check = stored.desc.dtype == DType::f64 ? check_finite<double> : check_finite<float>;
        check(path, tensor.name, stored.bytes);
    }
    std::unordered_set<std::string_view> wanted;
    for (const NamedTensor& tensor : tensors) {
        read(file.view(tensor.name), tensor.view);
        wanted.insert(tensor.name);
    }
    std::vector<std::string> unused;
    for (const SafetensorsEntry& entry : file.tensors()) {
        if (!wanted.contains(entry.name)) unused.push_back(entry.name);
    }
    return unused;
}

}  // namespace causeway
