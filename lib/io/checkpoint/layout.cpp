#include "io/checkpoint/layout.hpp"

#include <array>
#include <optional>
#include <utility>

#include "base/format.hpp"

namespace causeway {
namespace {

using Pieces = std::vector<Piece>;

constexpr std::string_view embedding = "wte.weight";
constexpr std::string_view head = "lm_head.weight";

/// The whole parameter as one tensor.
Piece whole(const std::string& name, const Shape& shape) {
    Piece piece{{name}, 0, 1, shape.elements()};
    piece.is_vector = shape.rank() == 1;
    if (shape.rank() > 1) {
        piece.cols = shape.back();
        piece.rows = shape.elements() / piece.cols;
    }
    if (shape.rank() > 2) piece.extents.assign(shape.extents().begin(), shape.extents().end());
    return piece;
}

/// A tied embedding may be under the head's name too, or instead.
void add_tied_name(Pieces& pieces, const ModelConfig& model, const std::string& parameter) {
    if (parameter == embedding && model.tie_word_embeddings) pieces.front().names.emplace_back(head);
}

/// "h.3.attn.proj.weight" is part "attn.proj.weight" of layer 3; nothing for what is in no layer.
struct InLayer {
    std::string layer, part;
};
std::optional<InLayer> in_layer(const std::string& parameter) {
    if (!parameter.starts_with("h.")) return std::nullopt;
    const std::size_t dot = parameter.find('.', 2);
    if (dot == std::string::npos) return std::nullopt;
    return InLayer{parameter.substr(2, dot - 2), parameter.substr(dot + 1)};
}

/// A part's stem and ending: "attn.proj" and "weight".
std::pair<std::string, std::string> cut_ending(const std::string& part) {
    const std::size_t dot = part.rfind('.');
    return {part.substr(0, dot), part.substr(dot + 1)};
}

using Names = std::pair<std::string_view, std::string_view>;  // Causeway's, the checkpoint's

template <std::size_t N>
std::string translate(const std::array<Names, N>& names, const std::string& stem) {
    for (const auto& [ours, theirs] : names) {
        if (ours == stem) return std::string(theirs);
    }
    return "";
}

constexpr std::array gpt2_linears{Names{"attn.qkv", "attn.c_attn"}, Names{"attn.proj", "attn.c_proj"},
                                  Names{"mlp.fc", "mlp.c_fc"}, Names{"mlp.proj", "mlp.c_proj"}};

Pieces gpt2_pieces(const std::string& prefix, bool transposed, const std::string& parameter, const Shape& shape) {
    if (parameter.starts_with("lm_head.")) return {whole(parameter, shape)};
    const std::optional<InLayer> place = in_layer(parameter);
    if (!place) return {whole(prefix + parameter, shape)};
    const auto [stem, ending] = cut_ending(place->part);
    const std::string linear = translate(gpt2_linears, stem);
    if (linear.empty()) return {whole(prefix + parameter, shape)};
    Piece piece = whole(fmt::format("{}h.{}.{}.{}", prefix, place->layer, linear, ending), shape);
    piece.transposed = transposed && ending == "weight";
    return {piece};
}

constexpr std::array llama_parts{Names{"ln_1", "input_layernorm"},         Names{"ln_2", "post_attention_layernorm"},
                                 Names{"attn.proj", "self_attn.o_proj"},   Names{"attn.q_norm", "self_attn.q_norm"},
                                 Names{"attn.k_norm", "self_attn.k_norm"}, Names{"mlp.proj", "mlp.down_proj"},
                                 Names{"mlp.router", "mlp.gate"}};

/// Blocks of rows, one tensor each: `rows` of block i under names[i], from row `first_row` of the parameter on.
Pieces row_blocks(const std::vector<std::pair<std::string, std::int64_t>>& blocks, const Shape& shape,
                  std::int64_t first_row = 0) {
    const bool vector = shape.rank() == 1;
    const std::int64_t cols = vector ? 1 : shape.back();
    Pieces pieces;
    for (const auto& [name, rows] : blocks) {
        Piece piece{{name}, first_row * cols, rows, cols};
        if (vector) std::swap(piece.rows, piece.cols);
        piece.is_vector = vector;
        pieces.push_back(std::move(piece));
        first_row += rows;
    }
    return pieces;
}

/// (E,2F,D) as gate and up of each expert, (E,D,F) as its down projection.
Pieces expert_pieces(const std::string& mlp, bool gate_up, const Shape& shape) {
    Pieces pieces;
    const std::int64_t rows = shape[1];
    for (std::int64_t e = 0; e < shape[0]; ++e) {
        const auto name = [&](const char* which) { return fmt::format("{}.experts.{}.{}_proj.weight", mlp, e, which); };
        std::vector<std::pair<std::string, std::int64_t>> blocks{{name("down"), rows}};
        if (gate_up) blocks = {{name("gate"), rows / 2}, {name("up"), rows / 2}};
        for (Piece& piece : row_blocks(blocks, shape, e * rows)) pieces.push_back(std::move(piece));
    }
    return pieces;
}

Pieces llama_layer_pieces(const ModelConfig& model, const std::string& layer, const InLayer& place,
                          const Shape& shape) {
    const auto [stem, ending] = cut_ending(place.part);
    const auto name = [&, end = ending](const char* part) { return fmt::format("{}.{}.{}", layer, part, end); };
    if (stem == "attn.qkv") {
        const std::int64_t q = model.num_attention_heads * model.head_dim,
                           kv = model.num_key_value_heads * model.head_dim;
        return row_blocks(
            {{name("self_attn.q_proj"), q}, {name("self_attn.k_proj"), kv}, {name("self_attn.v_proj"), kv}}, shape);
    }
    if (stem == "mlp.gate_up") {
        return row_blocks({{name("mlp.gate_proj"), shape[0] / 2}, {name("mlp.up_proj"), shape[0] / 2}}, shape);
    }
    if (stem == "mlp.experts.gate_up") return expert_pieces(layer + ".mlp", true, shape);
    if (stem == "mlp.experts.down") return expert_pieces(layer + ".mlp", false, shape);
    const std::string part = translate(llama_parts, stem);
    return part.empty() ? Pieces{} : Pieces{whole(name(part.c_str()), shape)};
}

Pieces llama_pieces(const ModelConfig& model, const std::string& prefix, const std::string& parameter,
                    const Shape& shape) {
    if (parameter == embedding) return {whole(prefix + "embed_tokens.weight", shape)};
    if (parameter == "ln_f.weight") return {whole(prefix + "norm.weight", shape)};
    if (parameter.starts_with("lm_head.")) return {whole(parameter, shape)};
    const std::optional<InLayer> place = in_layer(parameter);
    if (!place) return {};
    return llama_layer_pieces(model, fmt::format("{}layers.{}", prefix, place->layer), *place, shape);
}

bool is_gpt2_buffer(std::string_view tensor) {
    return tensor.ends_with(".attn.bias") || tensor.ends_with(".attn.masked_bias");
}

bool is_rope_buffer(std::string_view tensor) { return tensor.ends_with("rotary_emb.inv_freq"); }

/// True when a name of the checkpoint contains the text; its beginning up to there is `prefix`'s then.
bool contains_name(const StoredTensors& tensors, std::string_view text, std::string& prefix) {
    for (const StoredTensor& tensor : tensors.all()) {
        const std::size_t at = tensor.name.find(text);
        if (at == std::string::npos) continue;
        prefix = tensor.name.substr(0, at);
        return true;
    }
    return false;
}

}  // namespace

std::vector<std::int64_t> Piece::stored_shape() const {
    if (is_vector) return {cols};
    if (!extents.empty()) return extents;
    return transposed ? std::vector{cols, rows} : std::vector{rows, cols};
}

CheckpointLayout causeway_layout(const ModelConfig& model) {
    const auto pieces = [model](const std::string& parameter, const Shape& shape) {
        Pieces all{whole(parameter, shape)};
        add_tied_name(all, model, parameter);
        return all;
    };
    return {"Causeway", pieces, [](std::string_view) { return false; }};
}

CheckpointLayout gpt2_layout(const ModelConfig& model, const std::string& prefix, bool transposed) {
    const auto pieces = [=](const std::string& parameter, const Shape& shape) {
        Pieces all = gpt2_pieces(prefix, transposed, parameter, shape);
        add_tied_name(all, model, parameter);
        return all;
    };
    return {transposed ? "HuggingFace GPT-2" : "nanoGPT", pieces, is_gpt2_buffer};
}

CheckpointLayout llama_layout(const ModelConfig& model, const std::string& prefix) {
    const auto pieces = [=](const std::string& parameter, const Shape& shape) {
        Pieces all = llama_pieces(model, prefix, parameter, shape);
        add_tied_name(all, model, parameter);
        return all;
    };
    return {"HuggingFace Llama", pieces, is_rope_buffer};
}

CheckpointLayout layout_of(const StoredTensors& tensors, const ModelConfig& model) {
    std::string prefix;
    if (contains_name(tensors, "layers.0.", prefix)) return llama_layout(model, prefix);
    if (!contains_name(tensors, "h.0.attn.c_attn.weight", prefix)) return causeway_layout(model);
    // Width and three times the width never agree, so this one shape tells Conv1D's (in, out) from Linear's (out, in).
    const StoredTensor& qkv = *tensors.find(prefix + "h.0.attn.c_attn.weight");
    const bool out_in = qkv.shape.size() == 2 && qkv.shape[0] == 3 * qkv.shape[1];
    return gpt2_layout(model, prefix, !out_in);
}

CheckpointLayout hf_layout(const ModelConfig& model) {
    return model.position_embedding == PositionKind::rope ? llama_layout(model, "model.")
                                                          : gpt2_layout(model, "transformer.", true);
}

}  // namespace causeway
