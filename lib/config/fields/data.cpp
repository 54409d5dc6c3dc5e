#include "config/fields/fields.hpp"

namespace causeway::config {

Section data_section() {
    SectionBuilder<DataConfig> data("data", &Config::data, "Where the tokens come from.");
    using D = DataConfig;
    data.add(
        "source", &D::source,
        choice<DataSource>({"text", "jsonl", "chat", "tokens", "repeat", "lookback_copy", "induction"}),
        "text: plain text; jsonl: a {\"text\"} a line; chat: a {\"conversations\"} a line; tokens: .bin of nanoGPT or "
        "llm.c, .npy; the others are built-in tasks made from the seed.",
        {"dataset", "task"});
    data.add("path", &D::path, text(),
             "A file, a pattern with * and ?, or a folder, relative to the working directory. Empty for the tasks.",
             {"file", "filename", "data_path"});
    data.add("mixture", &D::mixture,
             list_of<DataPart>({member_of("path", &DataPart::path, text(), true),
                                member_of("weight", &DataPart::weight, number({0.0, 1e9, true, false}))}),
             "Instead of path: several, each with its weight (default 1), the share of rows that come from it.",
             {"datasets", "data_mix"});
    data.add("tokenizer", &D::tokenizer, text(),
             "A tokenizer.json, or the folder it is in; empty means that each byte is a token.",
             {"tokenizer_path", "tokenizer_name"});
    data.add("token_type", &D::token_type, choice<TokenType>({"auto", "uint8", "uint16", "uint32", "int32", "int64"}),
             "tokens: numbers in a file without header; auto takes a .bin for uint16.", {"token_dtype"});
    data.add("chat_format", &D::chat_format, choice<ChatFormat>({"minimind", "qwen", "llama3"}),
             "chat: how a conversation is written as text.", {"chat_template"});
    data.add("packing", &D::packing, flag(),
             "jsonl, chat: documents follow each other in a window; false gives each a row of its own, padded.");
    data.add("document_start", &D::document_start, text(), "jsonl: token put before each document; empty means none.",
             {"bos_token"});
    data.add("document_separator", &D::document_separator, text(),
             "text: token put between files; jsonl: after each document; empty means none.", {"eos_token"});
    data.add("validation_path", &D::validation_path, text(),
             "A file, pattern or folder that is validated on, instead of the last part of the training data.",
             {"val_path", "val_file"});
    data.add("validation_fraction", &D::validation_fraction, number({0.0, 1.0, true, true}),
             "This last part of the data is kept for validation.", {"val_fraction", "val_split"});
    data.add("sampling", &D::sampling, choice<Sampling>({"random", "epoch"}),
             "Windows drawn with replacement, or each window once an epoch in shuffled order.");
    data.add("validation_stride", &D::validation_stride, integer(0, most_steps),
             "A validation window starts at every so many tokens; 0 means train.sequence_length.");
    data.add("lookback", &D::lookback, integer(1, most_positions),
             "lookback_copy: the target is the token this many positions back.");
    return data.take();
}

}  // namespace causeway::config
