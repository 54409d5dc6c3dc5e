#include "io/tokenizer/normalizer.hpp"

#include <utf8proc.h>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/read_pattern.hpp"

namespace causeway {
namespace {

/// One of Unicode's normalisation forms, by utf8proc. Lines are normalised each by itself: a line end combines with
/// nothing, and most lines need no work.
class UnicodeForm final : public Normalizer {
  public:
    /// Characters below the one that begins with byte `stable` are the same in this form.
    UnicodeForm(int options, unsigned char stable)
        : options_(static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE)), stable_(stable) {}

    void normalize(std::string_view text, RegexScratch&, std::string& out) const override {
        std::vector<utf8proc_int32_t> characters;
        while (!text.empty()) {
            const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
            add_line(text.substr(0, line), characters, out);
            text.remove_prefix(line);
        }
    }

    bool keeps(std::string_view text) const override { return utf8::prefix_below(text, stable_) == text.size(); }
    bool is_local() const override { return true; }

  private:
    void add_line(std::string_view line, std::vector<utf8proc_int32_t>& characters, std::string& out) const {
        if (keeps(line)) {
            out += line;
            return;
        }
        const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(line.data());
        const auto size = static_cast<utf8proc_ssize_t>(line.size());
        if (characters.size() < line.size()) characters.resize(line.size());
        const auto decompose = [&] {
            return utf8proc_decompose(bytes, size, characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                                      options_);
        };
        utf8proc_ssize_t count = decompose();
        if (count > static_cast<utf8proc_ssize_t>(characters.size())) {
            characters.resize(static_cast<std::size_t>(count));
            count = decompose();
        }
        if (count >= 0) count = utf8proc_normalize_utf32(characters.data(), count, options_);
        if (count < 0) throw DataError(fmt::format("text cannot be normalised: {}", utf8proc_errmsg(count)));
        for (utf8proc_ssize_t i = 0; i < count; ++i) {
            utf8::append(out, static_cast<char32_t>(characters[static_cast<std::size_t>(i)]));
        }
    }

    utf8proc_option_t options_;
    unsigned char stable_;
};

class Lowercase final : public Normalizer {
  public:
    void normalize(std::string_view text, RegexScratch&, std::string& out) const override {
        constexpr char32_t capital_i_with_dot = 0x130;  // the only one that becomes two characters
        for (std::size_t at = 0; at < text.size();) {
            const utf8::Decoded found = utf8::decode(text, at);
            at += found.bytes;
            if (found.character == capital_i_with_dot) {
                out += "i\xCC\x87";
            } else {
                const auto character = static_cast<utf8proc_int32_t>(found.character);
                utf8::append(out, static_cast<char32_t>(utf8proc_tolower(character)));
            }
        }
    }

    bool keeps(std::string_view) const override { return false; }
    bool is_local() const override { return true; }
};

class Prepend final : public Normalizer {
  public:
    explicit Prepend(std::string text) : text_(std::move(text)) {}
    void normalize(std::string_view text, RegexScratch&, std::string& out) const override { (out += text_) += text; }
    bool keeps(std::string_view) const override { return text_.empty(); }
    bool is_local() const override { return text_.empty(); }

  private:
    std::string text_;
};

class Replace final : public Normalizer {
  public:
    Replace(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

    void normalize(std::string_view text, RegexScratch& scratch, std::string& out) const override {
        const auto look = [](std::string_view, std::size_t) { return std::size_t{0}; };
        pattern_.split(text, scratch, look, [&](std::size_t begin, std::size_t end, bool matched) {
            out += matched ? content_ : text.substr(begin, end - begin);
        });
    }

    bool keeps(std::string_view) const override { return false; }
    bool is_local() const override { return false; }

  private:
    Regex pattern_;
    std::string content_;
};

/// Takes away blanks at the ends.
class Strip final : public Normalizer {
  public:
    Strip(bool left, bool right) : left_(left), right_(right) {}

    void normalize(std::string_view text, RegexScratch&, std::string& out) const override {
        while (left_) {
            const utf8::Decoded first = utf8::decode(text, 0);
            if (first.bytes == 0 || !utf8::is_space(first.character)) break;
            text.remove_prefix(first.bytes);
        }
        while (right_) {
            const utf8::Decoded last = utf8::decode_before(text, text.size());
            if (last.bytes == 0 || !utf8::is_space(last.character)) break;
            text.remove_suffix(last.bytes);
        }
        out += text;
    }

    bool keeps(std::string_view) const override { return !left_ && !right_; }
    bool is_local() const override { return false; }

  private:
    bool left_, right_;
};

void read_into(const JsonField& field, Normalizers& normalizers, int depth) {
    constexpr int deepest = 8;
    constexpr unsigned char ascii = 0x80, below_0300 = 0xCC;  // U+0300, the first combining mark, begins with 0xCC
    if (field.is_null()) return;
    const std::string type = field.type();
    const auto add = [&](auto normalizer) { normalizers.push_back(std::move(normalizer)); };
    if (type == "Sequence") {
        if (depth == deepest) field.refuse("sequences within sequences go too deep");
        for (const JsonField& inner : field["normalizers"].elements()) read_into(inner, normalizers, depth + 1);
    } else if (type == "NFC") {
        add(std::make_unique<UnicodeForm>(UTF8PROC_COMPOSE, below_0300));
    } else if (type == "NFD") {
        add(std::make_unique<UnicodeForm>(UTF8PROC_DECOMPOSE, ascii));
    } else if (type == "NFKC") {
        add(std::make_unique<UnicodeForm>(UTF8PROC_COMPOSE | UTF8PROC_COMPAT, ascii));
    } else if (type == "NFKD") {
        add(std::make_unique<UnicodeForm>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, ascii));
    } else if (type == "Lowercase") {
        add(std::make_unique<Lowercase>());
    } else if (type == "Prepend") {
        add(std::make_unique<Prepend>(field["prepend"].text()));
    } else if (type == "Replace") {
        add(std::make_unique<Replace>(read_pattern(field["pattern"]), field["content"].text()));
    } else if (type == "Strip") {
        add(std::make_unique<Strip>(field["strip_left"].flag(true), field["strip_right"].flag(true)));
    } else {
        field.refuse(
            fmt::format("the normalizer \"{}\" is not supported; there are NFC, NFD, NFKC, NFKD, Lowercase, "
                        "Prepend, Replace, Strip and Sequence",
                        type));
    }
}

}  // namespace

Normalizers read_normalizers(const JsonField& field) {
    Normalizers normalizers;
    read_into(field, normalizers, 0);
    return normalizers;
}

}  // namespace causeway
