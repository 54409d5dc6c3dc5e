#include "io/tokenizer/text_frame.hpp"

#include "base/format.hpp"

namespace causeway {
namespace {

using Ids = std::vector<std::int32_t>;

/// Frames go around those that are there.
void put_around(TextFrame& frame, const Ids& before, const Ids& after) {
    frame.before.insert(frame.before.begin(), before.begin(), before.end());
    frame.after.insert(frame.after.end(), after.begin(), after.end());
}

/// {"single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
///  "special_tokens": {"<s>": {"ids": [1]}}}
void read_template(const JsonField& field, TextFrame& frame) {
    Ids before, after;
    bool seen_text = false;
    for (const JsonField& piece : field["single"].elements()) {
        if (!piece["Sequence"].is_null()) {
            if (seen_text) piece.refuse("the text a second time is not supported");
            seen_text = true;
            continue;
        }
        const JsonField name = piece["SpecialToken"]["id"];
        const JsonField token = field["special_tokens"][name.text()];
        if (token.is_null()) name.refuse(fmt::format("\"{}\" is not among special_tokens", name.text()));
        for (const JsonField& id : token["ids"].elements()) (seen_text ? after : before).push_back(id.id());
    }
    if (!seen_text) field["single"].refuse("the text itself is missing");
    put_around(frame, before, after);
}

/// {"cls": ["<s>", 0], "sep": ["</s>", 2]}
void read_pair_of_ends(const JsonField& field, TextFrame& frame) {
    const auto id_of = [&](const char* name) -> Ids {
        const std::vector<JsonField> token = field[name].elements();
        if (token.size() != 2) field[name].refuse_value("a token and its id");
        return {token[1].id()};
    };
    put_around(frame, id_of("cls"), id_of("sep"));
}

void read_into(const JsonField& field, TextFrame& frame, int depth) {
    constexpr int deepest = 8;
    if (field.is_null()) return;
    const std::string type = field.type();
    if (type == "Sequence") {
        if (depth == deepest) field.refuse("sequences within sequences go too deep");
        for (const JsonField& inner : field["processors"].elements()) read_into(inner, frame, depth + 1);
    } else if (type == "TemplateProcessing") {
        read_template(field, frame);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        read_pair_of_ends(field, frame);
    } else if (type != "ByteLevel") {  // which concerns offsets only
        field.refuse(
            fmt::format("the post-processor \"{}\" is not supported; there are ByteLevel, TemplateProcessing, "
                        "BertProcessing, RobertaProcessing and Sequence",
                        type));
    }
}

}  // namespace

TextFrame read_text_frame(const JsonField& field) {
    TextFrame frame;
    read_into(field, frame, 0);
    return frame;
}

}  // namespace causeway
