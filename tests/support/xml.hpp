#pragma once

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Reads an XML text and throws std::runtime_error, saying where, unless it is well formed: one root, tags that match,
/// quoted attributes without doubles, no bare & or <. Returns how often each element occurs.
class XmlReader {
  public:
    static std::map<std::string, int> element_counts(std::string_view text) {
        XmlReader reader(text);
        reader.read();
        return reader.counts_;
    }

  private:
    explicit XmlReader(std::string_view text) : text_(text) {}

    void read() {
        int roots = 0;
        while (at_ < text_.size()) {
            if (text_[at_] != '<') {
                character();
            } else if (text_.substr(at_, 2) == "</") {
                close();
            } else {
                roots += open_.empty() ? 1 : 0;
                element();
            }
        }
        if (!open_.empty()) fail("'" + open_.back() + "' is never closed");
        if (roots != 1) fail("there must be one root");
    }

    void character() {
        const char c = text_[at_];
        if (c == '&') return entity();
        if (open_.empty() && std::isspace(static_cast<unsigned char>(c)) == 0) fail("text outside the root");
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') fail("a control character");
        ++at_;
    }

    void entity() {
        for (std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}) {
            if (text_.substr(at_, known.size()) != known) continue;
            at_ += known.size();
            return;
        }
        fail("a bare &");
    }

    void close() {
        at_ += 2;
        const std::string tag = name();
        if (open_.empty() || open_.back() != tag) fail("'" + tag + "' closes what is not open");
        open_.pop_back();
        expect('>');
    }

    void element() {
        ++at_;
        const std::string tag = name();
        ++counts_[tag];
        std::map<std::string, bool> seen;
        for (;;) {
            while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
            if (at_ >= text_.size()) fail("the end inside a tag");
            if (text_[at_] == '>' || text_[at_] == '/') break;
            const std::string attribute = name();
            if (seen[attribute]) fail("'" + attribute + "' twice");
            seen[attribute] = true;
            expect('=');
            expect('"');
            while (at_ < text_.size() && text_[at_] != '"') {
                if (text_[at_] == '<') fail("a bare < in an attribute");
                if (text_[at_] == '&') {
                    entity();
                } else {
                    ++at_;
                }
            }
            expect('"');
        }
        if (text_[at_] == '/') {
            ++at_;
        } else {
            open_.push_back(tag);
        }
        expect('>');
    }

    std::string name() {
        const std::size_t begin = at_;
        const auto is_name = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':';
        };
        while (at_ < text_.size() && is_name(text_[at_])) ++at_;
        if (at_ == begin) fail("a name is missing");
        return std::string(text_.substr(begin, at_ - begin));
    }

    void expect(char c) {
        if (at_ >= text_.size() || text_[at_] != c) fail(std::string("expected ") + c);
        ++at_;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("XML, byte " + std::to_string(at_) + ": " + what + " near '" +
                                 std::string(text_.substr(at_ < 20 ? 0 : at_ - 20, 40)) + "'");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string> open_;
    std::map<std::string, int> counts_;
};
