#include "tokenizing.hpp"

#include <unistd.h>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "output.hpp"
#include "text.hpp"

namespace causeway::cli {
std::optional<std::int32_t> token_named(const Tokenizer& tokenizer, const std::string& name, std::string_view option) {
    if (name.empty()) return std::nullopt;
    if (const auto id = tokenizer.find(name)) return id;
    throw DataError(fmt::format("{}: the tokenizer has no token \"{}\"", option, name));
}

std::shared_ptr<const Tokenizer> tokenizer_for(std::string_view command, const std::string& run, const Config& config,
                                               bool text_given) {
    try {
        return text_tokenizer(run, config);
    } catch (const IoError& error) {
        if (text_given) throw;
        complain(command, fmt::format("warning: {}; tokens are numbers", error.what()));
        return nullptr;
    }
}

std::string quoted_bytes(std::string_view bytes) {
    std::string out = "\"";
    for (std::size_t at = 0; at < bytes.size();) {
        const utf8::Decoded found = utf8::decode(bytes, at);
        const char c = bytes[at];
        if (c == '\n' || c == '\t' || c == '\r') {
            out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
            ++at;
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
            ++at;
        } else if (found.bytes == 0 || utf8::is_control(found.character)) {
            out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
            ++at;
        } else {
            out += bytes.substr(at, found.bytes);
            at += found.bytes;
        }
    }
    return out + "\"";
}

void write_notice(const std::string& text, const std::string& out) {
    if (out != "/dev/stdout" && out != "-") return print(text);
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace causeway::cli
