#include "io/checkpoint/load.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/real_elements.hpp"
#include "io/safetensors_dtype.hpp"

namespace causeway {
namespace {

constexpr std::size_t most_lines = 100;  // of a report

struct ReportLine {
    std::string tensor, found, expected;
};

/// A piece of a parameter and the tensor that holds it.
struct Match {
    const NamedTensor* parameter = nullptr;
    Piece piece;
    const StoredTensor* tensor = nullptr;
};

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

std::optional<DType> real_dtype(const StoredTensor& tensor) {
    const SafetensorsDtype* known = find_safetensors_dtype(tensor.dtype);
    if (known == nullptr || !known->dtype || !is_real(*known->dtype)) return std::nullopt;
    return known->dtype;
}

/// Finds every piece's tensor and what is wrong with it, before anything is read.
class Matcher {
  public:
    Matcher(const StoredTensors& tensors, const CheckpointLayout& layout, std::span<const NamedTensor> parameters)
        : tensors_(tensors), layout_(layout), parameters_(parameters) {}

    std::vector<Match> match() {
        for (const NamedTensor& parameter : parameters_) {
            const std::vector<Piece> pieces = layout_.pieces(parameter.name, parameter.view.desc.shape);
            if (pieces.empty()) add_line(parameter.name, "no name for it", to_string(parameter.view.desc.shape));
            for (const Piece& piece : pieces) match(parameter, piece);
        }
        const std::size_t faults = lines_.size();
        for (const StoredTensor& tensor : tensors_.all()) {
            if (used_.contains(tensor.name) || layout_.is_buffer(tensor.name)) continue;
            unused_.push_back(tensor.name);
            add_line(tensor.name, shape_text(tensor.shape), "not expected");
        }
        if (faults > 0) fail(faults);
        return std::move(matches_);
    }

    std::vector<std::string> take_unused() { return std::move(unused_); }

  private:
    void match(const NamedTensor& parameter, const Piece& piece) {
        const StoredTensor* tensor = nullptr;
        ++pieces_;
        for (const std::string& name : piece.names) {
            const StoredTensor* other = tensors_.find(name);
            if (other == nullptr) continue;
            used_.insert(other->name);
            if (tensor == nullptr) tensor = other;
            require_same(*tensor, *other);
        }
        const std::string expected = shape_text(piece.stored_shape());
        if (tensor == nullptr) return add_line(piece.names.front(), "missing", expected);
        if (tensor->shape != piece.stored_shape()) {
            return add_line(tensor->name, shape_text(tensor->shape), expected);
        }
        if (!real_dtype(*tensor)) return add_line(tensor->name, tensor->dtype, "F32, F64, F16 or BF16");
        matches_.push_back({&parameter, piece, tensor});
    }

    void require_same(const StoredTensor& one, const StoredTensor& other) const {
        if (one.dtype == other.dtype && one.shape == other.shape && std::ranges::equal(one.bytes, other.bytes)) return;
        throw IoError(
            fmt::format("{}: '{}' and '{}' differ, but the model's embedding and head are one tensor "
                        "(model.tie_word_embeddings is true)",
                        tensors_.path(), one.name, other.name));
    }

    void add_line(const std::string& tensor, const std::string& found, const std::string& expected) {
        lines_.push_back({tensor, found, expected});
    }

    [[noreturn]] void fail(std::size_t faults) const {
        std::size_t wide = 6, found = 11;
        for (const ReportLine& line : lines_) {
            wide = std::max(wide, line.tensor.size());
            found = std::max(found, line.found.size());
        }
        std::string table = fmt::format("\n  {:{}}  {:{}}  expected", "tensor", wide, "in the file", found);
        for (std::size_t i = 0; i < std::min(lines_.size(), most_lines); ++i) {
            table +=
                fmt::format("\n  {:{}}  {:{}}  {}", lines_[i].tensor, wide, lines_[i].found, found, lines_[i].expected);
        }
        if (lines_.size() > most_lines) table += fmt::format("\n  and {} more", lines_.size() - most_lines);
        throw IoError(fmt::format("{}: {} of {} tensors do not fit the model (names as of {}):{}", tensors_.path(),
                                  faults, pieces_, layout_.name, table));
    }

    const StoredTensors& tensors_;
    const CheckpointLayout& layout_;
    std::span<const NamedTensor> parameters_;
    std::vector<Match> matches_;
    std::vector<ReportLine> lines_;
    std::unordered_set<std::string_view> used_;
    std::vector<std::string> unused_;
    std::size_t pieces_ = 0;
};

void check_finite(const std::string& path, const StoredTensor& tensor) {
    if (const auto fault = find_not_finite_element(*real_dtype(tensor), tensor.bytes)) {
        throw NumericError(fmt::format("{}: element {} of '{}' is {}, expected a finite number", path, fault->element,
                                       tensor.name, fault->value));
    }
}

void read(const Match& match) {
    const Piece& piece = match.piece;
    const TensorView& to = match.parameter->view;
    const StoredMatrix from{*real_dtype(*match.tensor), match.tensor->bytes, piece.rows, piece.cols, piece.transposed};
    if (to.desc.dtype == DType::f64) {
        read_matrix(from, to.as<double>() + piece.offset);
    } else {
        read_matrix(from, to.as<float>() + piece.offset);
    }
}

}  // namespace

std::vector<std::string> load_checkpoint(const StoredTensors& tensors, const CheckpointLayout& layout,
                                         std::span<const NamedTensor> parameters) {
    for (const NamedTensor& tensor : parameters) {
        const DType dtype = tensor.view.desc.dtype;
        if (dtype != DType::f32 && dtype != DType::f64) {
            throw IoError(fmt::format("{}: cannot read '{}' into {}, only into f32 or f64", tensors.path(), tensor.name,
                                      to_string(dtype)));
        }
    }
    Matcher matcher(tensors, layout, parameters);
    const std::vector<Match> matches = matcher.match();
    for (const Match& match : matches) check_finite(tensors.path(), *match.tensor);
    for (const Match& match : matches) read(match);
    return matcher.take_unused();
}

std::vector<std::string> load_parameters(const std::string& path, const ModelConfig& model,
                                         std::span<const NamedTensor> parameters) {
    const StoredTensors tensors = StoredTensors::open(path);
    return load_checkpoint(tensors, layout_of(tensors, model), parameters);
}

}  // namespace causeway
