#pragma once

#include "io/tokenizer/json_field.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// Of the field "post_processor" of a tokenizer.json: null, ByteLevel, TemplateProcessing, BertProcessing,
/// RobertaProcessing or a Sequence of such; the ids that a single text gets. Throws IoError for others.
TextFrame read_text_frame(const JsonField& field);

}  // namespace causeway
